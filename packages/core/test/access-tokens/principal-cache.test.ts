import { describe, expect, it, vi } from 'vitest';
import {
  createPrincipalCache,
  sha256Of,
  type TokenOwner,
} from '../../src/access-tokens/principal-cache.ts';

const forever = Number.POSITIVE_INFINITY;
const ann: TokenOwner = { principal: { name: 'Ann', scopes: [] }, validUntil: forever };
const noOwner: TokenOwner = { principal: undefined, validUntil: forever };

describe('a principal cache', () => {
  it('does not forget a valid token when many unknown tokens arrive', async () => {
    const find = vi.fn(async (_sha256: string, token: string) => (token === 'ann' ? ann : noOwner));
    const cache = createPrincipalCache({ find, now: () => 0 });
    await cache.get('ann');
    for (let i = 0; i < 20_001; i++) await cache.get(`guess ${i}`);
    expect(find).toHaveBeenCalledTimes(20_002);
    expect(cache.get('ann')).toBe(ann.principal);
  });

  it('does not cache a token when `forget` is called during the look-up of the token', async () => {
    const [first, second] = [
      Promise.withResolvers<TokenOwner>(),
      Promise.withResolvers<TokenOwner>(),
    ];
    const find = vi.fn(() => second.promise).mockReturnValueOnce(first.promise);
    const cache = createPrincipalCache({ find, now: () => 0 });
    const before = cache.get('ann');
    cache.forget([sha256Of('ann')]);
    const after = cache.get('ann');
    expect(find).toHaveBeenCalledTimes(2);
    second.resolve(noOwner);
    expect(await after).toBeUndefined();
    first.resolve(ann);
    expect(await before).toBe(ann.principal);
    expect(cache.get('ann')).toBeUndefined();
  });

  it('caches a token for less than 30 seconds, even when somebody changes the clock of the machine', async () => {
    let [now, elapsed] = [0, 0];
    const find = vi.fn(async () => ann);
    const cache = createPrincipalCache({ find, now: () => now, elapsed: () => elapsed });
    for (const hours of [0, -1, 1, 0]) {
      now = hours * 3_600_000;
      await cache.get('ann');
    }
    expect(find).toHaveBeenCalledTimes(1);
    elapsed = 29_000;
    now = -3_600_000;
    await cache.get('ann');
    expect(find).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['stands still', { now: 60_000 }, 'elapsed'],
    ['runs ahead', { elapsed: 0 }, 'now'],
  ] as const)(
    'does not cache a token after its expiry, even when the clock %s',
    async (_, fixed, runs) => {
      const clock = { now: 0, elapsed: 0, ...fixed };
      const owners = [{ ...ann, validUntil: clock.now + 1_000 }, noOwner];
      const cache = createPrincipalCache({
        find: async () => owners.shift() ?? noOwner,
        now: () => clock.now,
        elapsed: () => clock.elapsed,
      });
      await cache.get('ann');
      clock[runs] = 999;
      expect(cache.get('ann')).toBe(ann.principal);
      clock[runs] = 1_000;
      expect(await cache.get('ann')).toBeUndefined();
      expect(cache.get('ann')).toBeUndefined();
    },
  );

  it('caches up to 10,000 tokens, and forgets all of them when another token arrives', async () => {
    const cache = createPrincipalCache({ find: async () => ann });
    for (let i = 0; i < 10_000; i++) await cache.get(`token ${i}`);
    expect(cache.get('token 0')).toBe(ann.principal);
    await cache.get('one more');
    expect(cache.get('one more')).toBe(ann.principal);
    expect(cache.get('token 0')).toBeInstanceOf(Promise);
  });

  it('uses the clocks of the machine by default', async () => {
    const expired = { ...ann, validUntil: Date.now() - 1 };
    const cache = createPrincipalCache({
      find: async (_, token) => (token === 'ann' ? ann : expired),
    });
    for (const token of ['ann', 'expired']) await cache.get(token);
    expect(cache.get('ann')).toBe(ann.principal);
    expect(cache.get('expired')).toBeInstanceOf(Promise);
  });

  it('looks a token up again after an error', async () => {
    const find = vi.fn(async () => ann).mockRejectedValueOnce(new Error('no response'));
    const cache = createPrincipalCache({ find, now: () => 0 });
    await expect(cache.get('ann')).rejects.toThrow('no response');
    expect(await cache.get('ann')).toBe(ann.principal);
  });
});
