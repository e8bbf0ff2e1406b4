import type { Scope } from '@plant-store/schemas';
import {
  initTRPC,
  type TRPCMutationProcedure,
  type TRPCQueryProcedure,
  type TRPCSubscriptionProcedure,
  type TrackedEnvelope,
  tracked,
} from '@trpc/server';
import type * as z from 'zod';
import type { Principal } from '../../access-tokens/principals.ts';
import type { Caller, Deadline } from '../../database/deadline.ts';
import type { PlantStore } from '../../plant-store.ts';
import { insufficientScope, invalidInput, type PlantStoreError } from '../../plant-store-error.ts';
import { OutputText } from '../../plants/output-text.ts';
import { transformer } from './transformer.ts';
import { errorShape, toStoreError } from './trpc-error.ts';

/** The context that a call passes to its procedure. */
export interface Context {
  readonly store: PlantStore;
  /** The owner of the call's token. The surface has already authenticated the principal. */
  readonly principal: Principal;
  /** See `CallOptions`. */
  readonly deadline?: Deadline | undefined;
  readonly caller?: Caller | undefined;
  /** `listPlantChanges` calls this function to wait for changes. `hold` runs `wait`, and may reject the call. */
  readonly hold?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /** `createPlants` passes one error of each kind in its output to this function, which must not throw. */
  readonly onError?: ((error: PlantStoreError) => void) | undefined;
}

/** A REST operation. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A name in braces is a property of the procedure's input. */
  readonly path: `/${string}`;
  /** The HTTP status of a successful response. A response with 204 has no body. */
  readonly status: 200 | 204;
}

/** The properties of a procedure. */
interface Description {
  /** The scope that the caller needs. With `none`, any valid access token is enough. */
  readonly scope: Scope | 'none';
  /** The REST operation of the procedure, if the procedure has one. */
  readonly rest?: Operation;
  readonly summary?: string;
  readonly description?: string;
  /** A description of the output. */
  readonly returns?: string;
  /** Makes the procedure an MCP tool with this description. */
  readonly tool?: string;
  /** A REST client that asks for events gets the output of the subscription with this name. */
  readonly events?: string;
}

/** Makes metadata for trpc-to-openapi from the description. Core does not depend on trpc-to-openapi. */
function toMeta({ scope, rest, summary, description = '', returns, ...others }: Description) {
  const needs = scope === 'none' ? 'a valid access token, and no scope' : `the scope \`${scope}\``;
  const [tag] = scope === 'none' ? ['tokens'] : scope.split(':');
  const openapi = {
    ...{ summary, description: `${description} Needs ${needs}.`.trimStart() },
    ...{ tags: [tag], successDescription: returns },
  };
  return { scope, ...others, ...(rest && { openapi: { ...rest, ...openapi } }) };
}

type Meta = ReturnType<typeof toMeta>;

export const t = initTRPC
  .meta<Meta>()
  .context<Context>()
  .create({
    transformer,
    // By default, tRPC adds stack traces to errors unless NODE_ENV is `production`.
    isDev: false,
    errorFormatter: ({ shape, error }) => errorShape(toStoreError(error), shape.data.path),
  });

interface Call {
  readonly ctx: Context;
  /** Returns the input as the client sent it. This function must not be asynchronous. */
  readonly readInput: () => unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A call from a tRPC router. */
interface TRPCCall extends Omit<Call, 'readInput'> {
  readonly getRawInput: () => Promise<unknown>;
}

interface Types<Type = 'query' | 'mutation' | 'subscription', In = z.ZodType, Out = z.ZodType> {
  readonly type: Type;
  /** This schema must not be asynchronous. */
  readonly input: In;
  /** The schema of the output, or of a subscription's event data. This schema must not transform values. */
  readonly output: Out;
}

/** The part of a procedure that the surfaces use. */
export interface Procedure {
  readonly definition: Types & {
    readonly meta: Meta;
    /**
     * Checks the principal's scopes, checks the input, and runs the procedure. The output may be an
     * `OutputText`.
     *
     * @throws PlantStoreError, or returns a promise that rejects with this error
     */
    call(call: Call): unknown;
  };
}

/** The output of `run`. The events of a subscription are in envelopes. An output may be an `OutputText`. */
type RunOutput<Type, Out> = Type extends 'subscription'
  ? AsyncIterable<TrackedEnvelope<z.output<Out> | OutputText<z.output<Out>>>, void>
  : z.output<Out> | OutputText<z.output<Out>>;

/** The part of a procedure that the routers and clients of tRPC use. */
type TRPCProcedure<Type extends Types['type'], In, Out> = {
  query: TRPCQueryProcedure<TRPCTypes<In, z.output<Out>>>;
  mutation: TRPCMutationProcedure<TRPCTypes<In, z.output<Out>>>;
  subscription: TRPCSubscriptionProcedure<
    TRPCTypes<In, AsyncIterable<{ id: string; data: z.output<Out> }, void>>
  >;
}[Type];

type TRPCTypes<In, Output> = { input: z.input<In>; output: Output; meta: Meta };

/**
 * Makes a tRPC procedure. The property `definition` is for our own surfaces. One function runs the whole
 * call, because tRPC would copy all options of the call for each middleware.
 *
 * The output needs no check at run time. The type checker compares the type of `run` with the schema, and a
 * test validates the responses.
 */
export function define<Type extends Types['type'], In extends z.ZodType, Out extends z.ZodType>({
  type,
  input,
  output,
  run,
  ...description
}: Types<Type, In, Out> &
  Description & {
    run(call: {
      readonly ctx: Context;
      readonly input: z.output<In>;
      readonly signal: AbortSignal | undefined;
    }): RunOutput<Type, Out> | Promise<RunOutput<Type, Out>>;
  }): Procedure & TRPCProcedure<Type, In, Out> {
  const meta = toMeta(description);
  const { scope } = description;
  // This function is not `async`, because each promise costs time in a batch.
  const call = ({ ctx, readInput, signal }: Call): unknown => {
    const isAllowed = scope === 'none' || ctx.principal.scopes.includes(scope);
    if (!isAllowed) throw insufficientScope(scope);
    const { data, error } = input.safeParse(readInput());
    if (error) throw invalidInput(error);
    return run({ ctx, input: data, signal });
  };
  const builder: object = t.procedure.meta(meta).input(input).output(output);
  // The cast is needed, because tRPC has different types for the resolvers of queries, mutations and
  // subscriptions.
  const methods = builder as Record<Type, (resolver: unknown) => TRPCProcedure<Type, In, Out>>;
  const callHere = async ({ ctx, getRawInput, signal }: TRPCCall) => {
    const raw = await getRawInput();
    return inObjects(await call({ ctx, readInput: () => raw, signal }));
  };
  const definition = { type, meta, input, output, call };
  return Object.assign(callHere, methods[type](callHere), { definition });
}

/** Converts an `OutputText`, or the events of a subscription, to objects. */
function inObjects(output: unknown): unknown {
  if (output instanceof OutputText) return output.value();
  const isStream = Object(output)[Symbol.asyncIterator] !== undefined;
  return isStream ? eventsInObjects(output as AsyncIterable<TrackedEnvelope<unknown>>) : output;
}

async function* eventsInObjects(events: AsyncIterable<TrackedEnvelope<unknown>>) {
  for await (const [id, data] of events) yield tracked(id, inObjects(data));
}
