import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { expectTypeOf, it } from 'vitest';
import {
  type AppRouter,
  createPlantStoreClient,
  type PlantStoreClient,
  plantStoreError,
} from '../src/index.ts';

it('the routers of the client and of core have the same inputs, outputs and errors', () => {
  expectTypeOf<inferRouterInputs<AppRouter>>().toEqualTypeOf<inferRouterInputs<CoreRouter>>();
  expectTypeOf<inferRouterOutputs<AppRouter>>().toEqualTypeOf<inferRouterOutputs<CoreRouter>>();
  expectTypeOf<inferRouterError<AppRouter>>().toEqualTypeOf<inferRouterError<CoreRouter>>();
});

it('the code and the kind of an error narrow its type', () => {
  const narrowed = (thrown: unknown) => {
    const error = plantStoreError(thrown);
    if (error?.code === 40900) expectTypeOf(error.kind).toEqualTypeOf<'idTaken'>();
    if (error?.kind === 'idTaken') expectTypeOf(error.code).toEqualTypeOf<40900>();
    if (error?.kind === 'noResponse') expectTypeOf(error.code).toEqualTypeOf<undefined>();
    if (error?.code === 40001) {
      expectTypeOf(error.fields['name']).toEqualTypeOf<string[] | undefined>();
    }
    return error?.message;
  };
  expectTypeOf(narrowed).returns.toEqualTypeOf<string | undefined>();
});

it('TypeScript rejects invalid calls and unknown error codes', () => {
  const rejected = (client: PlantStoreClient) => [
    // @ts-expect-error: an id is not a string
    client.createPlant.mutate({ id: '1', name: 'x' }),
    // @ts-expect-error: a plant has a name
    client.createPlant.mutate({ id: 1n }),
    // @ts-expect-error: a plant has no property `other`
    client.createPlant.mutate({ id: 1n, name: 'x', other: 3 }),
    // @ts-expect-error: a mutation is not a query
    client.createPlant.query({ id: 1n, name: 'x' }),
    // @ts-expect-error: no procedure has this name
    client.movePlant.mutate({ id: 1n }),
    // @ts-expect-error: the token is required
    createPlantStoreClient({ url: '' }),
    // @ts-expect-error: only the error invalidInput has fields
    plantStoreError(undefined)?.fields,
    // @ts-expect-error: no error has this code
    plantStoreError(undefined)?.code === 40999,
  ];
  expectTypeOf(rejected).toBeFunction();
});
