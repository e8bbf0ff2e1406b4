import { timingSafeEqual } from 'node:crypto';
import { scopes } from '@plant-store/schemas';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

// Other test files use the same process, and may have loaded the module without the mock.
vi.resetModules();
afterAll(() => void vi.resetModules());
const { acceptStaticTokens } = await import('../../src/auth/static-tokens.ts');

beforeEach(() => void vi.mocked(timingSafeEqual).mockClear());

const authenticate = acceptStaticTokens([{ name: 'first', token: 'secret-1' }], () => undefined);

// The store looks up the SHA-256 of a token. The duration of this look-up does not help a client that
// guesses tokens, because similar tokens have different hashes.
it.each(['Xecret-1', 'secret-X', 'secret-1'])(
  'compares %s with the token in the same time, whichever character differs',
  (token) => {
    expect(authenticate(token)).toEqual(
      token === 'secret-1' ? { name: 'first', scopes } : undefined,
    );
    const [trusted, given] = [Buffer.from('secret-1'), Buffer.from(token)];
    expect(vi.mocked(timingSafeEqual).mock.calls).toEqual([[trusted, given]]);
  },
);

it('rejects the beginning of a token, and a text that contains the token', () => {
  for (const token of ['secret-', 'secret-11', 's', ' secret-1']) {
    expect(authenticate(token)).toBeUndefined();
  }
});
