import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import type {
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
 * Only the type of this value is used. TypeScript writes the inferred type of a value into the declarations
 * in full, so the published declarations do not import core.
 */
const appRouter = clientRouter<CoreRouter>();

/** The router without the types that only the server needs: the context, and the meta of REST. */
function clientRouter<Router extends AnyTRPCRouter>() {
  type Procedures = Router['_def']['record'];
  // The value is never read.
  return undefined as unknown as TRPCBuiltRouter<
    { ctx: object; meta: object; errorShape: inferRouterError<Router>; transformer: true },
    { [Name in keyof Procedures]: ClientProcedure<Procedures[Name]> }
  >;
}

type ClientProcedure<Procedure> =
  Procedure extends TRPCMutationProcedure<infer Types>
    ? TRPCMutationProcedure<{ input: Types['input']; output: Types['output']; meta: object }>
    : Procedure extends TRPCQueryProcedure<infer Types>
      ? TRPCQueryProcedure<{ input: Types['input']; output: Types['output']; meta: object }>
      : Procedure extends TRPCSubscriptionProcedure<infer Types>
        ? TRPCSubscriptionProcedure<{
            input: Types['input'];
            output: Plain<Types['output']>;
            meta: object;
          }>
        : never;

/** Events without the name of their type, which tRPC exports only from a path that is not stable. */
type Plain<Events> =
  Events extends AsyncIterable<infer Event, infer Last>
    ? AsyncIterable<{ [Key in keyof Event]: Event[Key] }, Last>
    : never;
