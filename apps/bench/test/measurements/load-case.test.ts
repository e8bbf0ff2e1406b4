import { expect, it } from 'vitest';
import { nodeHttp, oursRest, oursTrpcBatch } from '../../src/contenders/contenders.ts';
import type { LoadResult } from '../../src/load/load.ts';
import { faultsOf } from '../../src/measurements/load-case.ts';

const load: LoadResult = { responses: 2500, errors: 0, seconds: 1, p50: 1, p99: 2 };
const conditions = { ...oursRest, connections: 32 };
const faults = (rows: number) => faultsOf([load, load], rows, conditions);

it('reports no fault for stored plants whose response was pending at the end of a load', () => {
  expect(faults(5000)).toEqual([]);
  expect(faults(5064)).toEqual([]);
});

it('reports lost plants, plants that nobody sent, and errors', () => {
  expect(faults(4999)).toEqual(['1 acknowledged plants are not in the table']);
  expect(faults(5065)).toEqual(['1 plants in the table that nobody sent']);
  expect(faultsOf([load, { ...load, errors: 3 }], 5000, conditions)).toEqual(['3 errors']);
});

it('expects each plant of a batch to be stored, except by a server that stores nothing', () => {
  const batches = { ...oursTrpcBatch, connections: 32 };
  expect(faultsOf([load], 25_000, batches)).toEqual([]);
  expect(faultsOf([load], 24_990, batches)).toEqual([
    '10 acknowledged plants are not in the table',
  ]);
  expect(faultsOf([load], 0, { ...nodeHttp, connections: 32 })).toEqual([]);
});
