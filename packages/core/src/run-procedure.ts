import { type AnyTRPCProcedure, getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server';

/**
 * The same procedures, called at a fifth of the cost.
 *
 * For each middleware tRPC copies all options of the call with a helper for old browsers; that was
 * a fifth of the server's time. Here the same middlewares run with the same options. It goes past
 * tRPC's public seam in one place, `_def.middlewares`: the test beside it says when that moves.
 */
export function runDirectly<Procedures extends Record<string, AnyTRPCProcedure>>(
  procedures: Procedures,
): Procedures {
  const direct = Object.entries(procedures).map(([name, procedure]) => {
    const { middlewares, meta } = procedure._def as unknown as Definition; // Not in its public type.
    const run = async (call: Call) => {
      const result = await runFrom(0, middlewares, { ...call, meta });
      if (!result.ok) throw result.error;
      return result.data;
    };
    return [name, Object.assign(run, procedure)];
  });
  return Object.fromEntries(direct);
}

interface Definition {
  middlewares: Middleware[];
  meta: unknown;
}

type Middleware = (
  opts: Call & { next(changes?: Partial<Call>): Promise<Result> },
) => Promise<Result>;

interface Call {
  meta?: unknown;
  ctx: object;
  input?: unknown;
  getRawInput(): Promise<unknown>;
}

type Result = { ok: true; data: unknown } | { ok: false; error: TRPCError };

/** Runs a middleware, which runs those after it by calling `next`; the last one is the resolver. */
async function runFrom(index: number, middlewares: Middleware[], call: Call): Promise<Result> {
  try {
    const middleware = middlewares[index];
    if (!middleware) throw new Error('the resolver called next()');
    return await middleware({
      ...call,
      next: (changes) =>
        runFrom(index + 1, middlewares, {
          ...call,
          ...changes,
          ctx: changes?.ctx ? { ...call.ctx, ...changes.ctx } : call.ctx,
        }),
    });
  } catch (cause) {
    return { ok: false, error: getTRPCErrorFromUnknown(cause) };
  }
}
