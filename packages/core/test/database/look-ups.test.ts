import { expect, it, onTestFinished, vi } from 'vitest';
import type { AccessToken } from '../../src/access-tokens/access-token-table.ts';
import { createLookupBatcher } from '../../src/database/lookup-batcher.ts';

const unused = {
  scopes: [],
  createdAt: new Date(0),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const ann: AccessToken = { name: 'Ann', ...unused };
const ben: AccessToken = { name: 'Ben', ...unused };
const known = new Map([
  ['ann', ann],
  ['ben', ben],
]);

const hashes = (count: number) => Array.from({ length: count }, (_, i) => `hash ${i}`);

it('sends the first look-up at once and batches those that arrive meanwhile', async () => {
  const sizes: number[] = [];
  const lookUp = createLookupBatcher<string, AccessToken>({
    what: 'access tokens',
    find: async ({ length }) => {
      sizes.push(length);
      return known;
    },
  });
  await Promise.all(hashes(300).map((hash) => lookUp(hash)));
  expect(sizes).toEqual([1, 128, 128, 43]);
});

it('sends a second statement beside the first as soon as it is full', async () => {
  const slow = Promise.withResolvers<typeof known>();
  const sizes: number[] = [];
  const lookUp = createLookupBatcher<string, AccessToken>({
    what: 'access tokens',
    find: ({ length }) => {
      sizes.push(length);
      return slow.promise;
    },
  });
  const lookups = hashes(129).map((hash) => lookUp(hash));
  expect(sizes).toEqual([1, 128]);
  slow.resolve(known);
  await Promise.all(lookups);
});

it('answers each look-up with its own token while another statement hangs', async () => {
  const hung = Promise.withResolvers<typeof known>();
  const lookUp = createLookupBatcher<string, AccessToken>({
    what: 'access tokens',
    find: async (sha256s) => (sha256s.includes('hangs') ? hung.promise : known),
  });
  const [hanging, ...others] = ['hangs', 'ben', 'ann', 'nobody', 'ben'].map((key) => lookUp(key));
  expect(await Promise.all(others)).toEqual([ben, ann, undefined, ben]);
  hung.resolve(known);
  expect(await hanging).toBeUndefined();
});

it('rejects every look-up of a statement that fails, and sends the next statement', async () => {
  const lookUp = createLookupBatcher<string, AccessToken>({
    what: 'access tokens',
    find: async (sha256s) => {
      if (sha256s.includes('fails')) throw new Error('no connection');
      return known;
    },
  });
  const outcomes = await Promise.allSettled(['x', 'x', 'fails', 'ann'].map((key) => lookUp(key)));
  const cause = expect.objectContaining({ message: 'no connection' });
  const reason = { code: 50300, message: 'the database did not answer: try again', cause };
  const failed = { reason };
  expect(outcomes.slice(2)).toMatchObject([failed, failed]);
  expect(await lookUp('ann')).toBe(ann);
});

it('leaves no timer behind', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lookUp = createLookupBatcher<string, AccessToken>({ what: 'x', find: async () => known });
  expect(await lookUp('ann')).toBe(ann);
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('times out while the database is silent, and never sends look-ups that have timed out', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hung = Promise.withResolvers<typeof known>();
  const statements: (readonly string[])[] = [];
  const lookUp = createLookupBatcher<string, AccessToken>({
    what: 'access tokens',
    find: (sha256s) => {
      statements.push(sha256s);
      return hung.promise;
    },
  });
  const late = Promise.allSettled(hashes(300).map((hash) => lookUp(hash)));
  await vi.advanceTimersByTimeAsync(5_000);
  for (const outcome of await late) expect(outcome).toMatchObject({ reason: { code: 50300 } });

  const next = lookUp('ann');
  hung.resolve(known);
  expect(await next).toBe(ann);
  expect(statements).toEqual([['hash 0'], hashes(300).slice(1, 129), ['ann']]);
});
