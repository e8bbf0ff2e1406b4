import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { Logo } from '../controls/icon.tsx';
import { TextField } from '../controls/text-field.tsx';
import './token-page.css';

interface TokenPageProps {
  /** The reason why the earlier token no longer works. */
  reason: ReactNode;
  onEnter(token: string): void;
}

/** Asks for an access token, and says where the user finds a token. */
export function TokenPage({ reason, onEnter }: TokenPageProps) {
  const [token, setToken] = useState('');
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onEnter(token.trim());
  };
  return (
    <main className="token-page">
      <form className="card" onSubmit={onSubmit}>
        <Logo />
        <h1>Open the plant store</h1>
        {reason && (
          <p className="alert" role="alert">
            {reason}
          </p>
        )}
        <TextField
          label="Access token"
          type="password"
          value={token}
          onChange={setToken}
          autoFocus
        />
        <Button kind="primary" type="submit" disabled={token.trim() === ''}>
          Open
        </Button>
        <section className="hint" aria-labelledby="where">
          <h2 id="where">Where do I find a token?</h2>
          <ul>
            <li>
              <code>npx -y pnpm start</code> prints a link that opens the console, and keeps the
              token in the file <code>.plant-store/token</code>.
            </li>
            <li>
              An operator creates a token with <code>plant-store token create NAME</code>.
            </li>
          </ul>
          <p>This tab keeps the token until the tab closes.</p>
        </section>
      </form>
    </main>
  );
}
