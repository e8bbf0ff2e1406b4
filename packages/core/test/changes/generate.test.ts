import { expect, it } from 'vitest';
import { generate } from '../../src/generate.ts';

function numbers() {
  let last = 0;
  return generate(async () => {
    last += 1;
    if (last === 3) throw new Error('there is no 3');
    return last;
  });
}

it('returns two values in order when a caller calls `next` twice at the same time', async () => {
  const pages = numbers();
  expect(await Promise.all([pages.next(), pages.next()])).toMatchObject([
    { value: 1 },
    { value: 2 },
  ]);
});

it('yields no value after an error', async () => {
  const seen: number[] = [];
  const pages = numbers();
  const loop = async () => {
    for await (const each of pages) seen.push(each);
  };
  await expect(loop()).rejects.toThrow('there is no 3');
  expect(seen).toEqual([1, 2]);
  expect(await pages.next()).toEqual({ done: true });
});

it('yields no value after the caller has left the loop', async () => {
  const pages = numbers();
  for await (const _ of pages) break;
  expect(await pages.next()).toEqual({ done: true });
});
