import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { Logo } from '../controls/logo.tsx';

interface HeaderProps {
  /** What stands before the buttons. */
  children: ReactNode;
  onShowRequests(): void;
  onForgetToken(): void;
}

export function Header({ children, onShowRequests, onForgetToken }: HeaderProps) {
  return (
    <header className="header">
      <Logo />
      <h1>Plant Store</h1>
      <div className="header-actions">
        {children}
        <Button kind="quiet" onClick={onShowRequests}>
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
