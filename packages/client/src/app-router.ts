import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import type {
  AnyTRPCProcedure,
  AnyTRPCRouter,
  inferRouterError,
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server';

/** The type of the store's router, for libraries on top of tRPC: `createTRPCOptionsProxy<AppRouter>`. */
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
