import type { AppRouter } from '@plant-store/core/router';
import { maxBatchSize } from '@plant-store/schemas';
import { createTRPCClient, httpBatchLink, type TRPCClient } from '@trpc/client';
import superjson from 'superjson';
import { type AccessToken, bearer } from './access-token.ts';

export interface PlantStoreClientOptions {
  /** Where the store is: `https://plants.example.com`, or in a page a path, `''` for its own origin. */
  url: string;
  /** The access token, or a function that gives it, asked anew for each request. */
  token: AccessToken;
}

/** The store's procedures, typed: `client.createPlant.mutate({ id: 1n, name: 'Monstera deliciosa' })`. */
export type PlantStoreClient = TRPCClient<AppRouter>;

/**
 * Makes a client of a plant store. Calls made at once travel together, up to ten in a request.
 *
 * What a call throws, `plantStoreError` explains.
 */
export function createPlantStoreClient({ url, token }: PlantStoreClientOptions): PlantStoreClient {
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${url.replace(/\/+$/, '')}/trpc`,
        headers: async () => ({ authorization: await bearer(token) }),
        transformer: superjson,
        maxItems: maxBatchSize,
      }),
    ],
  });
}
