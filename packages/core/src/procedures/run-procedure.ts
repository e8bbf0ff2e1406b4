import { type AnyTRPCProcedure, getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { ZodType } from 'zod';

/**
 * The same procedures, called at a fifth of the cost.
 *
 * For each middleware tRPC copies all options of the call, and to check the output the result, with
 * a helper for old browsers; that was a fifth of the server's time. Here the same middlewares run
 * with the same options, and an output that is zod's, and synchronous, is checked without it. It goes past tRPC's public seam in
 * `_def.middlewares` and the mark `_type` on them: the test beside it says when those move.
 */
export function runDirectly<Procedures extends Record<string, AnyTRPCProcedure>>(
  procedures: Procedures,
): Procedures {
  const direct = Object.entries(procedures).map(([name, procedure]) => {
    const { middlewares, output, meta } = procedure._def as unknown as Definition; // Not in its public type.
    const steps = middlewares.map((middleware) =>
      middleware._type === 'output' && output instanceof ZodType ? checkOutput(output) : middleware,
    );
    const run = async ({ ctx, getRawInput, path, type, signal, batchIndex }: Call) => {
      const call = { ctx, getRawInput, path, type, signal, batchIndex, meta, input: undefined };
      const result = await runFrom(0, steps, call);
      if (!result.ok) throw result.error;
      return result.data;
    };
    return [name, Object.assign(run, procedure)];
  });
  return Object.fromEntries(direct);
}

interface Definition {
  middlewares: Middleware[];
  output?: unknown;
  meta: unknown;
}

interface Middleware {
  (opts: Call & { next(changes?: Partial<Call>): Promise<Result> }): Promise<Result>;
  /** What it is for, where tRPC made it. */
  _type?: string;
}

interface Call {
  ctx: object;
  getRawInput(): Promise<unknown>;
  path: string;
  type: string;
  signal: AbortSignal | undefined;
  batchIndex: number;
  meta?: unknown;
  input?: unknown;
}

type Result = { ok: true; data: unknown } | { ok: false; error: TRPCError };

/** Runs a middleware, which runs those after it by calling `next`; the last one is the resolver. */
async function runFrom(index: number, steps: Middleware[], call: Call): Promise<Result> {
  try {
    const step = steps[index];
    if (!step) throw new Error('the resolver called next()');
    const next = (changes?: Partial<Call>) =>
      runFrom(index + 1, steps, changes ? changed(call, changes) : call);
    return await step({ ...call, next });
  } catch (cause) {
    return { ok: false, error: getTRPCErrorFromUnknown(cause) };
  }
}

function changed(call: Call, changes: Partial<Call>): Call {
  const ctx = changes.ctx ? { ...call.ctx, ...changes.ctx } : call.ctx;
  return { ...call, ...changes, ctx };
}

function checkOutput(schema: ZodType): Middleware {
  return async ({ next }) => {
    const result = await next();
    if (!result.ok) return result;
    const { data, error: cause } = schema.safeParse(result.data);
    if (!cause) return { ...result, data };
    throw new TRPCError({
      message: 'Output validation failed',
      code: 'INTERNAL_SERVER_ERROR',
      cause,
    });
  };
}
