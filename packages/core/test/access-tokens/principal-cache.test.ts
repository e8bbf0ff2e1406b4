import { describe, expect, it } from 'vitest';
import {
  createPrincipalCache,
  sha256Of,
  type TokenOwner,
} from '../../src/access-tokens/principal-cache.ts';

const forever = Number.POSITIVE_INFINITY;
const ann: TokenOwner = { principal: { name: 'Ann', scopes: [] }, validUntil: forever };
const nobody: TokenOwner = { principal: undefined, validUntil: forever };

describe('a cache of principals', () => {
  it('remembers a valid token during a flood of unknown ones', async () => {
    let found = 0;
    const find = async (_sha256: string, token: string) => {
      found++;
      return token === 'ann' ? ann : nobody;
    };
    const cache = createPrincipalCache({ find, now: () => 0 });
    await cache.get('ann');
    for (let i = 0; i < 20_001; i++) await cache.get(`guess ${i}`);
    expect(found).toBe(20_002);
    expect(cache.get('ann')).toBe(ann.principal);
  });

  it('does not remember a token that it is told to forget during its look-up', async () => {
    const answers = [Promise.withResolvers<TokenOwner>(), Promise.withResolvers<TokenOwner>()];
    let asked = 0;
    const find = () => answers[asked++]?.promise ?? Promise.reject(new Error('asked too often'));
    const cache = createPrincipalCache({ find, now: () => 0 });
    const before = cache.get('ann');
    cache.forget([sha256Of('ann')]);
    const after = cache.get('ann');
    expect(asked).toBe(2);
    answers[1]?.resolve(nobody);
    expect(await after).toBeUndefined();
    answers[0]?.resolve(ann);
    expect(await before).toBe(ann.principal);
    expect(cache.get('ann')).toBeUndefined();
  });

  it('looks a token up again after an error', async () => {
    const answers = [Promise.reject(new Error('no answer')), Promise.resolve(ann)];
    const cache = createPrincipalCache({
      find: async () => answers.shift() ?? nobody,
      now: () => 0,
    });
    await expect(cache.get('ann')).rejects.toThrow('no answer');
    expect(await cache.get('ann')).toBe(ann.principal);
  });
});
