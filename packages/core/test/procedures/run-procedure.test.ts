import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { runDirectly } from '../../src/procedures/run-procedure.ts';

const t = initTRPC.context<{ user: string }>().create();

const procedures = {
  everything: t.procedure
    .use(({ ctx, next }) => next({ ctx: { seenBy: `${ctx.user}, then the first` } }))
    .input(z.object({ name: z.string() }))
    .input(z.object({ size: z.number().transform(String) }))
    .use(async ({ ctx, input, meta, path, type, signal, batchIndex, next }) => {
      const result = await next({ ctx: { call: { path, type, meta, signal, batchIndex } } });
      return result.ok ? { ...result, data: { output: result.data, input, ctx } } : result;
    })
    .output(z.object({ greeting: z.string() }))
    .query(({ ctx, input }) => ({ ...ctx, greeting: `${input.name} ${input.size}` })),
  otherInput: t.procedure
    .use(({ next }) => next({ getRawInput: async () => ({ name: 'replaced' }) }))
    .input(z.object({ name: z.string() }))
    .query(({ input }) => input),
  refusal: t.procedure
    .use(() => Promise.reject(new TRPCError({ code: 'FORBIDDEN' })))
    .query(() => 1),
  bug: t.procedure.query(() => Promise.reject(new TypeError('no such thing'))),
  recovery: t.procedure
    .use(async ({ next }) => {
      const result = await next();
      return result.ok ? result : next();
    })
    .query(() => Promise.reject(new Error('twice'))),
  otherOutput: t.procedure.output((output) => `${output}!`).query(() => 'made'),
  badOutput: t.procedure.output(z.object({ name: z.string() })).query(() => ({ name: 1 }) as never),
};

const direct = t.createCallerFactory(t.router(runDirectly(procedures)))({ user: 'somebody' });
const original = t.createCallerFactory(t.router(procedures))({ user: 'somebody' });
type Name = keyof typeof procedures;

const outcomeOf = async (caller: typeof direct, name: Name, input: unknown) => {
  const call = caller[name] as (input: unknown) => Promise<unknown>; // Refused input is the point.
  const [outcome] = await Promise.allSettled([call(input)]);
  return outcome.status === 'fulfilled' ? outcome : { ...outcome, message: String(outcome.reason) };
};

it.each<[Name, unknown]>([
  ['everything', { name: 'Hoya', size: 3 }],
  ['everything', { name: 'Hoya' }],
  ['everything', undefined],
  ['otherInput', { name: 'sent' }],
  ['refusal', undefined],
  ['bug', undefined],
  ['recovery', undefined],
  ['otherOutput', undefined],
  ['badOutput', undefined],
])('runs %s of %j as tRPC does', async (name, input) => {
  const expected = await outcomeOf(original, name, input);
  expect(await outcomeOf(direct, name, input)).toStrictEqual(expected);
});

it('knows the check of the output by its mark', () => {
  const { middlewares } = procedures.badOutput._def as unknown as { middlewares: object[] }; // Not in its public type.
  expect(middlewares).toContainEqual(expect.objectContaining({ _type: 'output' }));
});

it('leaves what a router and its adapters read of a procedure as it is', () => {
  const { everything } = runDirectly(procedures);
  expect({ ...everything }).toEqual({ ...procedures.everything });
  expect(everything._def).toBe(procedures.everything._def);
});
