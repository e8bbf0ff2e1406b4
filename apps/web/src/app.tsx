import { createPlantStoreClient } from '@plant-store/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Question } from './controls/question.tsx';
import { isActive } from './import/file-import.ts';
import { createImports, type Imports } from './import/imports.ts';
import { StopImportQuestion } from './import/views/stop-import-question.tsx';
import { Console } from './layout/console.tsx';
import { forgetDraft } from './plants/add/draft.ts';
import { recordRequests } from './requests/request-history.ts';
import { baseUrl } from './store/base-url.ts';
import { explainError } from './store/explain-error.ts';
import { createQueryClient } from './store/query-client.ts';
import { TRPCProvider } from './store/trpc.ts';
import { TokenPage } from './token/token-page.tsx';
import { useToken } from './token/use-token.ts';

/** The console: asks for an access token where there is none, and shows the plants otherwise. */
export function App() {
  const { token, isSigningIn, reason, enter, forget } = useToken();
  const [imports] = useState(createImports);
  if (isSigningIn) return <p className="signing-in">Signing in …</p>;
  if (token === null) return <TokenPage reason={withImports(reason, imports)} onEnter={enter} />;
  return <Store key={token} token={token} imports={imports} onForget={forget} />;
}

function withImports(reason: string | undefined, imports: Imports): string | undefined {
  const waiting = imports.all().filter(isActive);
  if (waiting.length === 0) return reason;
  const names = waiting.map(({ file }) => file.name).join(' and ');
  return `${reason ?? ''}. The import of ${names} goes on when you enter a token.`;
}

interface StoreProps {
  token: string;
  imports: Imports;
  onForget(token: string, reason?: string): void;
}

function Store({ token, imports, onForget }: StoreProps) {
  const [isAsking, setIsAsking] = useState(false);
  const [queryClient] = useState(() =>
    createQueryClient((error) => onForget(token, explainError(error))),
  );
  const [client] = useState(() => createPlantStoreClient({ url: baseUrl(), token }));
  const [history] = useState(() => recordRequests(client));
  // The history would keep all plants of the requests of an import.
  const [importClient] = useState(() => createPlantStoreClient({ url: baseUrl(), token }));
  useEffect(() => {
    const onTokenError = (error: unknown) => onForget(token, explainError(error));
    imports.connect({ client: importClient, onTokenError });
  }, [imports, importClient, token, onForget]);
  const forget = () => {
    imports.stop();
    forgetDraft();
    onForget(token);
  };
  const isImporting = imports.all().some(isActive);
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <Console history={history} imports={imports} onForgetToken={() => setIsAsking(true)} />
        <StopImportQuestion
          imports={imports}
          isOpen={isAsking && isImporting}
          onConfirm={forget}
          onCancel={() => setIsAsking(false)}
        />
        <Question
          title="Forget the token?"
          text="You need it to open the console in this tab again."
          confirm="Forget token"
          isOpen={isAsking && !isImporting}
          onConfirm={forget}
          onCancel={() => setIsAsking(false)}
        />
      </TRPCProvider>
    </QueryClientProvider>
  );
}
