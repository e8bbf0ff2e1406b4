import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runDirectly } from '../../src/procedures/run-procedure.ts';
import { toTRPCError } from '../../src/procedures/trpc-error.ts';

const t = initTRPC.context<{ user: string }>().create();
const named = z.object({ name: z.string() });
const later = <T>(value: T) => Promise.resolve(value);

const procedures = {
  plain: t.procedure
    .input(named)
    .output(z.object({ greeting: z.string() }))
    .mutation(({ ctx, input, path, signal, batchIndex }) => ({
      greeting: JSON.stringify({ ctx, input, path, signal, batchIndex }),
    })),
  asyncInput: t.procedure
    .input(named.refine(({ name }) => later(name !== 'taken'), 'is taken'))
    .output(z.string())
    .query(({ input }) => input.name),
  asyncTransform: t.procedure
    .input(named.transform(async ({ name }) => name.length))
    .output(z.number())
    .query(({ input }) => input),
  asyncResolver: t.procedure
    .input(z.void())
    .output(z.string())
    .query(() => later('later')),
  everything: t.procedure
    .use(({ ctx, next }) => next({ ctx: { seenBy: `${ctx.user}, then the first` } }))
    .input(named)
    .input(z.object({ size: z.number().transform(String) }))
    .use(async ({ ctx, input, meta, path, type, signal, batchIndex, next }) => {
      const result = await next({ ctx: { call: { path, type, meta, signal, batchIndex } } });
      return result.ok ? { ...result, data: { output: result.data, input, ctx } } : result;
    })
    .output(z.object({ greeting: z.string() }))
    .query(({ ctx, input }) => ({ ...ctx, greeting: `${input.name} ${input.size}` })),
  changedContext: t.procedure
    .use(({ next }) => next({ ctx: { user: 'another' } }))
    .input(named)
    .output(z.string())
    .query(({ ctx, input }) => `${ctx.user}: ${input.name}`),
  changedInput: t.procedure
    .use(({ next }) => next({ getRawInput: async () => ({ name: 'replaced' }) }))
    .input(named)
    .output(named)
    .query(({ input }) => input),
  onlyInput: t.procedure.input(named).query(({ input }) => input.name),
  onlyOutput: t.procedure.output((output) => `${output}!`).query(() => 'made'),
  rejectingMiddleware: t.procedure
    .use(() => Promise.reject(new TRPCError({ code: 'FORBIDDEN' })))
    .query(() => 1),
  repeatingMiddleware: t.procedure
    .use(async ({ next }) => {
      const result = await next();
      return result.ok ? result : next();
    })
    .query(() => Promise.reject(new Error('twice'))),
  throwingInput: t.procedure
    .input(
      named.transform(() => {
        throw new TypeError('in the input');
      }),
    )
    .output(z.string())
    .query(() => 'never'),
  throwingResolver: t.procedure
    .input(z.unknown())
    .output(z.string())
    .query(() => Promise.reject(new TypeError('no such thing'))),
  trpcError: t.procedure
    .input(z.unknown())
    .output(z.string())
    .query(() => Promise.reject(new TRPCError({ code: 'CONFLICT', message: 'taken' }))),
};

const direct = t.createCallerFactory(t.router(runDirectly(procedures)))({ user: 'somebody' });
const original = t.createCallerFactory(t.router(procedures))({ user: 'somebody' });
type Name = keyof typeof procedures;

const outcomeOf = async (caller: typeof direct, name: Name, input: unknown) => {
  const call = caller[name] as (input: unknown) => Promise<unknown>; // The input may be invalid on purpose.
  const [outcome] = await Promise.allSettled([call(input)]);
  if (outcome.status === 'fulfilled') return outcome;
  const { code, message, cause } = toTRPCError(outcome.reason);
  return { code, message, cause: String(cause) };
};

it.each<[Name, unknown]>([
  ['plain', { name: 'Hoya' }],
  ['plain', { name: 1 }],
  ['plain', undefined],
  ['asyncInput', { name: 'free' }],
  ['asyncInput', { name: 'taken' }],
  ['asyncTransform', { name: 'Hoya' }],
  ['asyncResolver', undefined],
  ['everything', { name: 'Hoya', size: 3 }],
  ['everything', { name: 'Hoya' }],
  ['everything', undefined],
  ['changedContext', { name: 'Hoya' }],
  ['changedInput', { name: 'sent' }],
  ['onlyInput', { name: 'Hoya' }],
  ['onlyOutput', undefined],
  ['rejectingMiddleware', undefined],
  ['repeatingMiddleware', undefined],
  ['throwingInput', { name: 'Hoya' }],
  ['throwingResolver', undefined],
  ['trpcError', undefined],
])('runs %s with %j as tRPC does', async (name, input) => {
  const expected = await outcomeOf(original, name, input);
  expect(await outcomeOf(direct, name, input)).toStrictEqual(expected);
});

it('runs a procedure without tRPC’s middlewares when it has only an input, a resolver and an output', async () => {
  const { middlewares } = procedures.plain._def as unknown as { middlewares: object[] }; // `_def` is not public.
  const resolve = vi.fn(middlewares.at(-1) as () => void);
  middlewares.splice(-1, 1, resolve);
  await direct.plain({ name: 'Hoya' });
  expect(resolve).not.toHaveBeenCalled();
  await original.plain({ name: 'Hoya' });
  expect(resolve).toHaveBeenCalledOnce();
});

it('keeps the properties of a procedure that a router and its adapters read', () => {
  const { everything } = runDirectly(procedures);
  expect({ ...everything }).toEqual({ ...procedures.everything });
  expect(everything._def).toBe(procedures.everything._def);
});
