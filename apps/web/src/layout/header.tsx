import type { ReactNode } from 'react';
import { go } from '../address/use-address.ts';
import { Button } from '../controls/button.tsx';
import { Icon, Logo } from '../controls/icon.tsx';

interface HeaderProps {
  /** The content before the buttons. */
  children: ReactNode;
  onForgetToken(): void;
}

export function Header({ children, onForgetToken }: HeaderProps) {
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
        <Button kind="quiet" onClick={() => go({ plant: undefined, sheet: 'requests' })}>
          <Icon name="requests" />
          <span>Requests</span>
        </Button>
        <Button kind="quiet" onClick={onForgetToken}>
          <Icon name="leave" />
          <span>Forget token</span>
        </Button>
      </div>
    </header>
  );
}
