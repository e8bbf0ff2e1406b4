import { createPlantStoreClient } from '@plant-store/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { Console } from './layout/console.tsx';
import { recordRequests } from './requests/request-history.ts';
import { baseUrl } from './store/base-url.ts';
import { explainError } from './store/explain-error.ts';
import { createQueryClient } from './store/query-client.ts';
import { TRPCProvider } from './store/trpc.ts';
import { TokenPage } from './token/token-page.tsx';
import { useToken } from './token/use-token.ts';

/** The console: asks for an access token where there is none, and shows the plants otherwise. */
export function App() {
  const { token, reason, enter, forget } = useToken();
  if (token === null) return <TokenPage reason={reason} onEnter={enter} />;
  return <Store key={token} token={token} onForget={(reason) => forget(token, reason)} />;
}

interface StoreProps {
  token: string;
  onForget(reason?: string): void;
}

function Store({ token, onForget }: StoreProps) {
  const [queryClient] = useState(() => createQueryClient((error) => onForget(explainError(error))));
  const [client] = useState(() => createPlantStoreClient({ url: baseUrl(), token }));
  const [history] = useState(() => recordRequests(client));
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <Console history={history} onForgetToken={() => onForget()} />
      </TRPCProvider>
    </QueryClientProvider>
  );
}
