import { createPlantStoreClient } from '@plant-store/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { refreshUnlessLive } from './changes/feed-state.ts';
import { isActive } from './import/file-import.ts';
import { createImports, type Imports } from './import/imports.ts';
import { FileNames } from './import/views/file-names.tsx';
import { Console } from './layout/console.tsx';
import { loadLater } from './layout/load-later.ts';
import { forgetDraft } from './plants/add/draft.ts';
import { recordRequests } from './requests/request-history.ts';
import { explainError } from './store/explain-error.ts';
import { createQueryClient } from './store/query-client.ts';
import { baseUrl, TRPCProvider } from './store/trpc.ts';
import { TokenPage } from './token/token-page.tsx';
import { useToken } from './token/use-token.ts';

/** The console. Asks for an access token, and then shows the plants. */
export function App() {
  const { token, isSigningIn, reason, enter, forget } = useToken();
  const [imports] = useState(() => createImports(loadLater));
  if (isSigningIn) return <p className="signing-in">Signing in …</p>;
  if (token === null) return <TokenPage reason={withImports(reason, imports)} onEnter={enter} />;
  return <Store key={token} token={token} imports={imports} onForget={forget} />;
}

function withImports(reason: string | undefined, imports: Imports): ReactNode {
  const waiting = imports.list.get().filter(isActive);
  if (waiting.length === 0) return reason;
  return (
    <>
      {reason && `${reason}. `}
      The import of <FileNames imports={waiting} /> goes on when you enter a token.
    </>
  );
}

/**
 * The client does not retry: the console itself repeats queries, and immediately shows that the server is
 * down. The timeout is long, because a request of a large import may take half a minute.
 */
const calls = { timeout: 40_000, retry: false };

interface StoreProps {
  token: string;
  imports: Imports;
  onForget(token: string, reason?: string): void;
}

function Store({ token, imports, onForget }: StoreProps) {
  const [queryClient] = useState(() =>
    createQueryClient((error) => onForget(token, explainError(error))),
  );
  const [client] = useState(() => createPlantStoreClient({ url: baseUrl(), token, ...calls }));
  const [history] = useState(() => recordRequests(client));
  useEffect(() => {
    const onTokenError = (error: unknown) => onForget(token, explainError(error));
    const onEnd = () => refreshUnlessLive(queryClient);
    imports.connect({ client, onTokenError, onEnd });
  }, [imports, client, queryClient, token, onForget]);
  const forget = () => {
    imports.stop();
    forgetDraft();
    onForget(token);
  };
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <Console history={history} imports={imports} onForgetToken={forget} />
      </TRPCProvider>
    </QueryClientProvider>
  );
}
