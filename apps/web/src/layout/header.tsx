import type { ReactNode } from 'react';
import { openSheet } from '../address/address.ts';
import { Button } from '../controls/button.tsx';
import { Icon, Logo } from '../controls/icon.tsx';

interface HeaderProps {
  /** Buttons that show the progress of imports and of the export. */
  children: ReactNode;
  mayManageTokens: boolean;
  onForgetToken(): void;
}

export function Header({ children, mayManageTokens, onForgetToken }: HeaderProps) {
  return (
    <header className="header row">
      <Logo />
      <strong className="one-line">Plant Store</strong>
      {children}
      <div className="header-actions">
        <a className="button button-quiet" href="docs">
          <Icon name="docs" />
          API reference
        </a>
        <Button kind="quiet" onClick={() => openSheet('requests')} icon="requests">
          Requests
        </Button>
        {mayManageTokens && (
          <Button kind="quiet" onClick={() => openSheet('tokens')} icon="tokens">
            Access tokens
          </Button>
        )}
        <Button kind="quiet" onClick={onForgetToken} icon="leave">
          Forget token
        </Button>
      </div>
    </header>
  );
}
