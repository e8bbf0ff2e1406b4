import { type AnyTRPCProcedure, TRPCError } from '@trpc/server';
import { core, type ZodSafeParseResult, ZodType } from 'zod';
import { toTRPCError } from './trpc-error.ts';

/**
 * Makes the same procedures with a lower cost for each call.
 *
 * tRPC runs a chain of middlewares, and copies all options of the call for each of them. Most procedures
 * have only two steps: check the input with zod, and call the resolver. Here these steps run without the
 * chain. tRPC still runs the procedures that have other middlewares or schemas. The steps come from
 * `_def`, which is not in tRPC's public types. A test compares the outcomes with tRPC's own.
 *
 * Unlike tRPC, this does not check the output: the type checker has compared the resolver's type with the
 * schema, and a test validates the responses. So the schema of an output must not transform it.
 */
export function runDirectly<Procedures extends Record<string, AnyTRPCProcedure>>(
  procedures: Procedures,
  authorize: Authorize = () => {},
): Procedures {
  const direct = Object.entries(procedures).map(([name, procedure]) => {
    const steps = stepsOf(procedure);
    const run = async (call: Call) => {
      try {
        authorize(procedure._def.meta, call.ctx);
        if (!steps) return await (procedure as unknown as Run)(call); // tRPC's types hide the options.
        const raw: unknown = call.getRawInput();
        const parsed = parseInput(steps.input, raw instanceof Promise ? await raw : raw);
        const input = parsed instanceof Promise ? await parsed : parsed;
        return await steps.resolver({ ...call, input });
      } catch (thrown) {
        throw toTRPCError(thrown);
      }
    };
    return [name, Object.assign(run, procedure)];
  });
  return Object.fromEntries(direct);
}

/** Throws when a call may not run. Both arguments have the router's types. */
type Authorize = (meta: unknown, context: object) => void;

interface Call {
  readonly ctx: object;
  readonly getRawInput: () => Promise<unknown>;
}

type Run = (call: Call) => Promise<unknown>;

interface Steps {
  readonly input: ZodType;
  readonly resolver: (options: Call & { input: unknown }) => unknown;
}

interface Definition {
  readonly inputs: readonly unknown[];
  readonly output?: unknown;
  readonly resolver: Steps['resolver'];
  /** tRPC's own middlewares have a `_type`, except the last one, which calls the resolver. */
  readonly middlewares: readonly { _type?: string }[];
}

/** The steps of a procedure; undefined when it has further ones. The check of the output does not count. */
function stepsOf(procedure: AnyTRPCProcedure): Steps | undefined {
  const { inputs, output, resolver, middlewares } = procedure._def as unknown as Definition;
  const [input] = inputs;
  const isPlain = middlewares.map(({ _type }) => _type).join() === 'input,output,';
  if (!isPlain || !(input instanceof ZodType) || !(output instanceof ZodType)) return undefined;
  return { input, resolver };
}

/**
 * Checks an input. Returns a promise only for a schema with asynchronous parts.
 *
 * @throws TRPCError as tRPC does, with zod's error as its cause
 */
function parseInput(schema: ZodType, value: unknown): unknown {
  try {
    return dataOf(schema.safeParse(value));
  } catch (cause) {
    if (cause instanceof core.$ZodAsyncError) return parseInputAsync(schema, value);
    throw new TRPCError({ code: 'BAD_REQUEST', cause });
  }
}

async function parseInputAsync(schema: ZodType, value: unknown): Promise<unknown> {
  try {
    return dataOf(await schema.safeParseAsync(value));
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', cause });
  }
}

/** @throws ZodError */
function dataOf({ data, error }: ZodSafeParseResult<unknown>): unknown {
  if (error) throw error;
  return data;
}
