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

/**
 * The type of the store's router. Libraries on top of tRPC need this type:
 * `createTRPCOptionsProxy<AppRouter>`.
 */
export type AppRouter = typeof appRouter;

/**
 * This value exists only for its type. TypeScript writes the inferred type into the declarations in full, so
 * that the published declarations do not import core.
 */
const appRouter = clientRouter<CoreRouter>();

/** Removes the types that only the server needs, such as the context. */
function clientRouter<Router extends AnyTRPCRouter>() {
  type Procedures = Router['_def']['record'];
  // The result exists only for its type.
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
