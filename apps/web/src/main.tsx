import './ui/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useLayoutEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { Console } from './console.tsx';
import { SignInAgain, SignInPage } from './session/sign-in.tsx';
import { useSession } from './session/use-session.ts';
import { connect, explainError, queryClient } from './store.tsx';
import { LinkButton } from './ui/button.tsx';
import { Notices } from './ui/dialog.tsx';

// By default, zod compiles schemas with `new Function`, which the content security policy forbids. zod reads
// this setting when the browser loads zod.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary FallbackComponent={CrashPage}>
        <App />
      </ErrorBoundary>
    </StrictMode>,
  );
}

/** Asks for an access token, and then shows the plants. */
function App() {
  const { token, isLooking, rejected, enter, reject, signOut } = useSession();
  // A layout effect runs before the first queries of the console, which need the token.
  useLayoutEffect(() => {
    if (token === undefined) queryClient.clear();
    else connect(token, reject);
  }, [token, reject]);
  if (token === undefined) return isLooking ? null : <SignInPage onEnter={enter} />;
  return (
    <QueryClientProvider client={queryClient}>
      <Console token={token} onSignOut={signOut} />
      <Notices />
      {rejected !== undefined && <SignInAgain rejected={rejected} onEnter={enter} />}
    </QueryClientProvider>
  );
}

/** Replaces the console after an uncaught exception in the console's code. */
function CrashPage({ error }: FallbackProps) {
  return (
    <main className="page stack" role="alert">
      <h1>The console cannot continue</h1>
      <p>The plants in the store are safe. The error is: {explainError(error)}</p>
      <LinkButton href={location.pathname}>Start again</LinkButton>
    </main>
  );
}
