import { timingSafeEqual } from 'node:crypto';
import { scopes } from '@plant-store/schemas';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

// Other test files share this process, and may have loaded the module without the mock.
vi.resetModules();
afterAll(() => void vi.resetModules());
const { acceptStaticTokens } = await import('../../src/auth/static-tokens.ts');

beforeEach(() => void vi.mocked(timingSafeEqual).mockClear());

const authenticate = acceptStaticTokens([{ name: 'first', token: 'secret-1' }], () => undefined);

// The store's own tokens need no such comparison, because the store looks up their SHA-256. Even a client
// that knows which part of a hash is right cannot guess the token.
it.each(['Xecret-1', 'secret-X', 'secret-1'])(
  'takes the same time to compare %s, whichever character differs',
  (token) => {
    expect(authenticate(token)).toEqual(
      token === 'secret-1' ? { name: 'first', scopes } : undefined,
    );
    const [trusted, given] = [Buffer.from('secret-1'), Buffer.from(token)];
    expect(vi.mocked(timingSafeEqual).mock.calls).toEqual([[trusted, given]]);
  },
);

it('accepts neither the beginning of a token nor a longer text', () => {
  for (const token of ['secret-', 'secret-11', 's', ' secret-1']) {
    expect(authenticate(token)).toBeUndefined();
  }
});
