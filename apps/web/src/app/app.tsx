import { Suspense } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { SignInPage } from '../session/sign-in.tsx';
import { useSession } from '../session/use-session.ts';
import { explainError } from '../store/errors.tsx';
import { Store } from '../store/store.tsx';
import { LinkButton } from '../ui/button.tsx';
import { Notices } from '../ui/notice.tsx';
import styles from './console.module.css';
import { Console } from './console.tsx';
import { SignInAgain } from './later-parts.ts';

/** The console. Asks for an access token, and then shows the plants. */
export function App() {
  return (
    <ErrorBoundary FallbackComponent={CrashPage}>
      <SignedIn />
    </ErrorBoundary>
  );
}

function SignedIn() {
  const { token, isLooking, rejected, enter, reject, signOut } = useSession();
  if (token === undefined) return isLooking ? null : <SignInPage onEnter={enter} />;
  return (
    <>
      <Store token={token} onRejected={reject}>
        <Console token={token} onSignOut={signOut} />
      </Store>
      <Notices />
      {rejected !== undefined && (
        <Suspense>
          <SignInAgain rejected={rejected} onEnter={enter} />
        </Suspense>
      )}
    </>
  );
}

/** Replaces the console after an uncaught exception in the console's code. */
function CrashPage({ error }: FallbackProps) {
  return (
    <main className={`stack ${styles.crash}`} role="alert">
      <h1>The console cannot continue</h1>
      <p>The plants in the store are safe. The error is: {explainError(error)}</p>
      <LinkButton href={location.pathname}>Start again</LinkButton>
    </main>
  );
}
