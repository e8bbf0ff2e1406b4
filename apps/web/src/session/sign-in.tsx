import type { ComponentProps, FormEvent } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Check, Field } from '../ui/field.tsx';
import { Logo } from '../ui/icon.tsx';
import { isKeptOnBrowser, keepToken } from './use-session.ts';

interface SignInProps {
  rejected?: string;
  onEnter(token: string, isForBrowser: boolean): void;
}

/** The page that asks for an access token. */
export function SignInPage({ onEnter }: SignInProps) {
  return (
    <main className="page">
      <title>Plant Store</title>
      <div className="card stack">
        <Logo />
        <h1>Open the plant store</h1>
        <SignInForm onEnter={onEnter} />
      </div>
    </main>
  );
}

/** Asks for another token in a dialog over the console, so that the user loses no typed text. */
export function SignInAgain(props: SignInProps) {
  return (
    <Dialog title="Sign in again" isBusy onClose={() => {}}>
      <SignInForm {...props} />
    </Dialog>
  );
}

function SignInForm({ rejected, onEnter }: SignInProps) {
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    onEnter(String(data.get('token')).trim(), data.has('keep'));
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      {rejected && (
        <p className="alert" role="alert">
          {rejected}
        </p>
      )}
      <Field
        label="Access token"
        type="password"
        name="token"
        pattern=".*\S.*"
        required
        autoFocus
      />
      <KeepSignedIn />
      <Button kind="primary" type="submit">
        Open
      </Button>
      <p className="help">
        No token? Ask the person who runs this store, or a colleague who manages its access tokens,
        for a link that opens this page.
      </p>
    </form>
  );
}

function KeepSignedIn(props: ComponentProps<'input'>) {
  return (
    <div>
      <Check label="Keep me signed in on this browser" name="keep" {...props} />
      <p className="help">
        If unchecked, the console signs you out when you close the tab. If checked, everyone who
        uses this browser can open the store until you sign out.
      </p>
    </div>
  );
}

interface AccountProps {
  name: string | undefined;
  token: string;
  onSignOut(): void;
  onClose(): void;
}

/** Shows the name of the user's token, and signs the user out. */
export function Account({ name, token, onSignOut, onClose }: AccountProps) {
  return (
    <Dialog title={name === undefined ? 'Signed in' : `Signed in as ${name}`} onClose={onClose}>
      <KeepSignedIn
        defaultChecked={isKeptOnBrowser()}
        onChange={({ target }) => keepToken(token, target.checked)}
      />
      <div className="row">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" data-focus onClick={onSignOut}>
          Sign out
        </Button>
      </div>
    </Dialog>
  );
}
