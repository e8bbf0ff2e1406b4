import { expect, it } from 'vitest';
import { splitById } from '../../../src/plants/write/split-by-id.ts';

const create = (id: number, name: string) => ({ plant: { id: BigInt(id), name } });

it('gives the first create of each id, ascending by id, and then those that repeat one', () => {
  const creates = [create(3, 'a'), create(1, 'b'), create(3, 'c'), create(-2, 'd'), create(1, 'e')];
  expect(splitById(creates)).toEqual({
    first: [create(-2, 'd'), create(1, 'b'), create(3, 'a')],
    repeated: [create(1, 'e'), create(3, 'c')],
  });
});

it('gives nothing for nothing', () => {
  expect(splitById([])).toEqual({ first: [], repeated: [] });
});
