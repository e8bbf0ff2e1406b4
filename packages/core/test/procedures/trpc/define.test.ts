import { TRPCError } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { PlantStore } from '../../../src/plant-store.ts';
import { PlantStoreError } from '../../../src/plant-store-error.ts';
import { define } from '../../../src/procedures/trpc/define.ts';
import { t } from '../../../src/procedures/trpc/trpc.ts';

const store = {} as PlantStore; // The procedures of this test use no store.
const ctx = { store, principal: { name: 'somebody', scopes: [] } };
const named = z.object({ name: z.string() });
const { signal } = new AbortController();

interface Steps {
  input: z.ZodType;
  output: z.ZodType;
  run(call: { ctx: object; input: unknown; signal: AbortSignal | undefined }): unknown;
}

const steps = {
  plain: {
    input: named,
    output: z.object({ greeting: z.string() }),
    run: (call) => ({ greeting: JSON.stringify([call.ctx, call.input, call.signal === signal]) }),
  },
  asyncResolver: { input: z.void(), output: z.string(), run: () => Promise.resolve('later') },
  throwingResolver: {
    input: z.unknown(),
    output: z.string(),
    run: () => Promise.reject(new TypeError('no such thing')),
  },
  trpcError: {
    input: z.unknown(),
    output: z.string(),
    run: () => Promise.reject(new TRPCError({ code: 'CONFLICT', message: 'taken' })),
  },
} satisfies Record<string, Steps>;
type Name = keyof typeof steps;

/** Calls a procedure of `define` or a procedure of tRPC, and returns the outcome. */
async function outcomeOf(name: Name, input: unknown, isOurs: boolean) {
  const { run, input: schema, output }: Steps = steps[name];
  const ours = define({ type: 'query', meta: { scope: 'none' }, input: schema, output, run });
  const own = t.procedure.input(schema).output(output);
  const router = t.router({ called: isOurs ? ours : own.query(run) });
  const { called } = t.createCallerFactory(router)(ctx, { signal });
  const [outcome] = await Promise.allSettled([called(input)]);
  if (outcome.status === 'fulfilled') return outcome;
  const { code, message, cause } = outcome.reason;
  const issues = [cause, cause?.cause].find((error) => error instanceof z.ZodError)?.issues;
  return issues ? { code, issues } : { code, message, cause: String(cause) };
}

it.each<[Name, unknown]>([
  ['plain', { name: 'Hoya' }],
  ['plain', { name: 1 }],
  ['plain', undefined],
  ['asyncResolver', undefined],
  ['throwingResolver', undefined],
  ['trpcError', undefined],
])('runs %s with %j as tRPC does', async (name, input) => {
  expect(await outcomeOf(name, input, true)).toStrictEqual(await outcomeOf(name, input, false));
});

const call = { ctx, getRawInput: () => ({ name: 'Hoya' }) };

function made(scope: unknown, input: z.ZodType = named) {
  // With the cast, the tests can pass an invalid scope.
  const meta = { scope: scope as 'none' };
  return define({ type: 'query', meta, input, output: z.string(), run: () => 'ran' });
}

it('treats an exception from a schema as an internal error', async () => {
  const throwing = named.transform(() => {
    throw new TypeError('in the input');
  });
  const { definition } = made('none', throwing);
  await expect(definition.call(call)).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
});

it('does not run the resolver of tRPC when a procedure is called over tRPC', async () => {
  const procedure = made('none');
  const { middlewares } = procedure._def as unknown as { middlewares: object[] }; // Not public.
  const resolve = vi.fn(middlewares.at(-1) as () => void);
  middlewares.splice(-1, 1, resolve);
  const caller = t.createCallerFactory(t.router({ procedure }))(ctx);
  expect(await caller.procedure({ name: 'Hoya' })).toBe('ran');
  expect(resolve).not.toHaveBeenCalled();
});

it('makes procedures with the properties that a router of tRPC and the adapters read', () => {
  const own = t.procedure.meta({ scope: 'none' }).input(named).output(z.string());
  const { definition, ...properties } = made('none');
  const { _def, ...others } = own.query(() => '');
  expect(properties).toMatchObject(others);
  expect(properties._def).toMatchObject({ type: 'query', meta: { scope: 'none' } });
  expect(properties._def.inputs).toEqual([named]);
  expect(Object.keys(properties._def)).toEqual(Object.keys(_def));
});

it.each([undefined, ''])('lets nobody call a procedure whose scope is %j', async (scope) => {
  await expect(made(scope).definition.call(call)).rejects.toThrow('the access token lacks');
});

it('requires no scope when the scope of a procedure is `none`', async () => {
  expect(await made('none').definition.call(call)).toBe('ran');
});

it('accepts a caller with the scope of the procedure, and rejects a caller without this scope', async () => {
  const reader = { ...ctx, principal: { name: 'Ann', scopes: ['plants:read' as const] } };
  expect(await made('plants:read').definition.call({ ...call, ctx: reader })).toBe('ran');
  const created = made('plants:create').definition.call({ ...call, ctx: reader });
  await expect(created).rejects.toThrow(/plants:create/);
  await expect(created).rejects.toMatchObject({ cause: expect.any(PlantStoreError) });
});
