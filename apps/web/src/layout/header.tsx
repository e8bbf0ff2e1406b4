import type { ReactNode } from 'react';
import { openSheet } from '../address/use-address.ts';
import { Button } from '../controls/button.tsx';
import { Icon, Logo } from '../controls/icon.tsx';

interface HeaderProps {
  /** The content before the buttons. */
  children: ReactNode;
  mayManageTokens: boolean;
  onForgetToken(): void;
}

export function Header({ children, mayManageTokens, onForgetToken }: HeaderProps) {
  return (
    <header className="header">
      <Logo />
      <strong>Plant Store</strong>
      <div className="header-actions">
        {children}
        <a className="button button-quiet" href="docs">
          <Icon name="docs" />
          <span>API reference</span>
        </a>
        <Button kind="quiet" onClick={() => openSheet('requests')} icon="requests">
          <span>Requests</span>
        </Button>
        {mayManageTokens && (
          <Button kind="quiet" onClick={() => openSheet('tokens')} icon="tokens">
            <span>Access tokens</span>
          </Button>
        )}
        <Button kind="quiet" onClick={onForgetToken} icon="leave">
          <span>Forget token</span>
        </Button>
      </div>
    </header>
  );
}
