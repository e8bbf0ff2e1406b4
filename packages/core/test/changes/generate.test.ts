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
  const values = await Promise.all([pages.next(), pages.next()]);
  expect(values).toMatchObject([{ value: 1 }, { value: 2 }]);
});

it('yields no value after an error', async () => {
  const pages = numbers();
  for (let i = 0; i < 2; i++) await pages.next();
  await expect(pages.next()).rejects.toThrow('there is no 3');
  expect(await pages.next()).toEqual({ done: true });
});

it('yields no value after the caller has left the loop', async () => {
  const pages = numbers();
  for await (const _ of pages) break;
  expect(await pages.next()).toEqual({ done: true });
});
