import {
  type TRPCMutationProcedure,
  type TRPCQueryProcedure,
  type TRPCSubscriptionProcedure,
  type TrackedEnvelope,
  tracked,
} from '@trpc/server';
import type * as z from 'zod';
import { insufficientScope, invalidInput } from '../../plant-store-error.ts';
import { OutputText } from '../../plants/output-text.ts';
import { type Context, type ProcedureMeta, t } from './trpc.ts';
import { toTRPCError } from './trpc-error.ts';

/** The part of a procedure that the surfaces use. */
export interface Procedure {
  readonly definition: Definition & {
    /**
     * Checks the principal's scopes, checks the input, and runs the procedure. The output may be an
     * `OutputText`.
     *
     * @throws TRPCError
     */
    call(call: Call): Promise<unknown>;
  };
}

interface Definition<
  Type = 'query' | 'mutation' | 'subscription',
  Input = z.ZodType,
  Output = z.ZodType,
> {
  readonly type: Type;
  readonly meta: ProcedureMeta;
  /** This schema must not be asynchronous. */
  readonly input: Input;
  /** The schema of the output, or of a subscription's event data. This schema must not transform values. */
  readonly output: Output;
}

interface Call {
  readonly ctx: Context;
  readonly getRawInput: () => unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A subscription's `run` yields envelopes, and a client gets the content of each envelope. */
type Result<Type, Output, Event = TrackedEnvelope<z.output<Output>>> = Type extends 'subscription'
  ? AsyncIterable<Event, void>
  : z.output<Output>;

/** A `run` may return its output as text. Then only callers in this process get objects. */
type RunResult<Type, Output> = Type extends 'subscription'
  ? AsyncIterable<TrackedEnvelope<z.output<Output> | OutputText<z.output<Output>>>, void>
  : z.output<Output> | OutputText<z.output<Output>>;

/** The part of a procedure that the routers and clients of tRPC use. */
type TRPCProcedure<Type extends Definition['type'], Input, Output> = {
  query: TRPCQueryProcedure<Types<Type, Input, Output>>;
  mutation: TRPCMutationProcedure<Types<Type, Input, Output>>;
  subscription: TRPCSubscriptionProcedure<Types<Type, Input, Output>>;
}[Type];

type Types<Type, Input, Output> = {
  input: z.input<Input>;
  output: Result<Type, Output, { id: string; data: z.output<Output> }>;
  meta: ProcedureMeta;
};

/**
 * Makes a tRPC procedure. The property `definition` is for our own surfaces. One function runs the whole
 * call. In a chain of tRPC's middlewares, tRPC would copy all options of the call for each middleware.
 *
 * The output needs no check at run time. The type checker compares the type of `run` with the schema, and a
 * test validates the responses.
 */
export function define<
  Type extends Definition['type'],
  Input extends z.ZodType,
  Output extends z.ZodType,
>({
  run,
  ...definition
}: Definition<Type, Input, Output> & {
  run(call: {
    readonly ctx: Context;
    readonly input: z.output<Input>;
    readonly signal: AbortSignal | undefined;
  }): RunResult<Type, Output> | Promise<RunResult<Type, Output>>;
}): Procedure & TRPCProcedure<Type, Input, Output> {
  const { type, meta, input, output } = definition;
  const call = async ({ ctx, getRawInput, signal }: Call): Promise<unknown> => {
    try {
      checkScope(meta, ctx);
      const { data, error } = input.safeParse(await getRawInput());
      if (error) throw invalidInput(error);
      return await run({ ctx, input: data, signal });
    } catch (thrown) {
      throw toTRPCError(thrown);
    }
  };
  const builder: object = t.procedure.meta(meta).input(input).output(output);
  // The cast is needed, because tRPC has different types for the resolvers of queries, mutations and
  // subscriptions.
  const methods = builder as Record<Type, Build<TRPCProcedure<Type, Input, Output>>>;
  const callHere = async (options: Call) => inObjects(await call(options));
  return Object.assign(callHere, methods[type](callHere), { definition: { ...definition, call } });
}

/** Makes objects from an output that is a text, and from the events of a subscription. */
function inObjects(output: unknown): unknown {
  if (output instanceof OutputText) return output.value();
  const isStream = Object(output)[Symbol.asyncIterator] !== undefined;
  return isStream ? eventsInObjects(output as AsyncIterable<TrackedEnvelope<unknown>>) : output;
}

async function* eventsInObjects(events: AsyncIterable<TrackedEnvelope<unknown>>) {
  for await (const [id, data] of events) yield tracked(id, inObjects(data));
}

type Build<Built> = (resolver: (call: Call) => Promise<unknown>) => Built;

/** @throws PlantStoreError `insufficientScope` */
function checkScope({ scope }: ProcedureMeta, { principal }: Context): void {
  if (scope === 'none' || principal.scopes.includes(scope)) return;
  throw insufficientScope(scope);
}
