import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import { formatJson, maxBatchCalls } from '@plant-store/schemas';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from '@trpc/client';
import type {
  AnyTRPCProcedure,
  AnyTRPCRouter,
  inferRouterError,
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server';
import { EventSource } from 'eventsource';
import superjson from 'superjson';
import { limitTime, repeat, storeFetch, toEvent, waitOf } from './links.ts';

export interface PlantStoreClientOptions {
  /** The URL of the store. In a web page, a path is enough, and `''` is the origin of the page. */
  url: string;
  /** The access token, or a function that returns the token for each request. */
  token: string | (() => string | Promise<string>);
  /**
   * The time limit of a call with all its retries, in milliseconds. The default is 10,000. If a call has
   * `wait`, the client adds the seconds of `wait` to the limit. `Infinity` means no limit.
   */
  timeout?: number | undefined;
  /** Whether the client repeats a query or a create after a temporary error. The default is `true`. */
  retry?: boolean | undefined;
  /** Sends each request. The default is the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** A client with typed procedures: `client.createPlant.mutate({ id: 1n, name: 'Monstera deliciosa' })`. */
export type PlantStoreClient = TRPCClient<AppRouter>;

/**
 * Creates a client of a plant store. When a program makes several calls at the same time, up to ten calls
 * share one request. A call with `wait` or with a long input gets a separate request. When a call throws an
 * error, pass the error to `plantStoreError`.
 */
export function createPlantStoreClient({
  url,
  token,
  timeout = 10_000,
  retry = true,
  fetch = (...request) => globalThis.fetch(...request),
}: PlantStoreClientOptions): PlantStoreClient {
  const send = storeFetch(fetch, token);
  const address = `${url.replace(/(\/trpc)?\/?$/, '')}/trpc`;
  const http = { url: address, transformer: superjson, fetch: send };
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        // This `EventSource` can send the access token, and connects again when a stream ends.
        true: httpSubscriptionLink({
          ...http,
          EventSource,
          eventSourceOptions: { fetch: async (...request) => toEvent(await send(...request)) },
        }),
        false: [
          limitTime(timeout),
          ...(retry ? [repeat()] : []),
          splitLink({
            // The server accepts URLs of up to 16 KiB. One character can become nine characters in a URL.
            condition: (op) => waitOf(op) > 0 || formatJson(op.input ?? null).length > 150,
            true: httpLink(http),
            false: httpBatchLink({ ...http, maxItems: maxBatchCalls }),
          }),
        ],
      }),
    ],
  });
}

/** The type of the router, for libraries on top of tRPC, such as `createTRPCOptionsProxy<AppRouter>`. */
export type AppRouter = typeof appRouter;

/**
 * Only the type of this value matters. The published declarations contain the inferred type in full, and
 * therefore do not import core.
 */
const appRouter = clientRouter<CoreRouter>();

/** Removes the types that only the server needs, such as the context. */
function clientRouter<Router extends AnyTRPCRouter>() {
  type Procedures = Router['_def']['record'];
  return undefined as unknown as TRPCBuiltRouter<
    { ctx: object; meta: object; errorShape: inferRouterError<Router>; transformer: true },
    { [Name in keyof Procedures]: ClientProcedure<Procedures[Name]> }
  >;
}

type ClientProcedure<
  Procedure extends AnyTRPCProcedure,
  Types extends { input: unknown; output: unknown; meta: object } = {
    input: Procedure['_def']['$types']['input'];
    output: Procedure['_def']['$types']['output'];
    meta: object;
  },
> = {
  query: TRPCQueryProcedure<Types>;
  mutation: TRPCMutationProcedure<Types>;
  subscription: TRPCSubscriptionProcedure<Types>;
}[Procedure['_def']['type']];
