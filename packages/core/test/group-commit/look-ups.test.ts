import { expect, it } from 'vitest';
import type { StoredToken } from '../../src/access-tokens/access-token-table.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createLookUps } from '../../src/group-commit/look-ups.ts';

const unused = {
  id: '',
  scopes: [],
  createdAt: new Date(0),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const ann: StoredToken = { name: 'Ann', ...unused };
const ben: StoredToken = { name: 'Ben', ...unused };
const known = new Map([
  ['ann', ann],
  ['ben', ben],
]);

/** Makes look-ups of access tokens that send at most two statements at a time. */
function tokenLookUps(find: (sha256s: string[], deadline: number) => Promise<typeof known>) {
  return createLookUps<string, StoredToken>({ find, maxInFlight: 2 });
}

const hashes = (count: number) => Array.from({ length: count }, (_, i) => `hash ${i}`);

it('returns the right token for each look-up while another statement hangs', async () => {
  const hung = Promise.withResolvers<typeof known>();
  const lookUps = tokenLookUps(async (sha256s) =>
    sha256s.includes('hangs') ? hung.promise : known,
  );
  const [hanging, ...others] = ['hangs', 'ben', 'ann', 'nobody', 'ben'].map((key) =>
    lookUps.run(key),
  );
  expect(await Promise.all(others)).toEqual([ben, ann, undefined, ben]);
  hung.resolve(known);
  expect(await hanging).toBeUndefined();
});

it('rejects all look-ups of a statement that fails, and still sends the next statement', async () => {
  const lookUps = tokenLookUps(async (sha256s) => {
    if (sha256s.includes('fails')) throw new Error('no connection');
    return known;
  });
  const outcomes = await Promise.allSettled(
    ['x', 'x', 'fails', 'ann'].map((key) => lookUps.run(key)),
  );
  const cause = expect.objectContaining({ message: 'no connection' });
  const reason = { code: 50300, message: 'the database did not respond: try again', cause };
  const failed = { reason };
  expect(outcomes.slice(2)).toMatchObject([failed, failed]);
  expect(await lookUps.run('ann')).toBe(ann);
});

it('looks up equal keys only once, and uses the latest deadline of the look-ups', async () => {
  const statements: [string[], number][] = [];
  const lookUps = tokenLookUps(async (...statement) => {
    statements.push(statement);
    return known;
  });
  const [first, sooner, later] = [deadlineIn(1_000), deadlineIn(2_000), deadlineIn(3_000)];
  await Promise.all([
    lookUps.run('ann', { deadline: first }),
    lookUps.run('ben', { deadline: sooner }),
    lookUps.run('ben', { deadline: later }),
    lookUps.run('ann', { deadline: sooner }),
  ]);
  expect(statements).toEqual([
    [['ann'], first],
    [['ben', 'ann'], later],
  ]);
});

it('rejects look-ups immediately when 10,000 look-ups are already waiting', async () => {
  const hung = Promise.withResolvers<typeof known>();
  const lookUps = tokenLookUps(() => hung.promise);
  // Two statements run, and 10,000 look-ups wait.
  const accepted = hashes(10_033).map((hash) => lookUps.run(hash));
  await expect(lookUps.run('ann')).rejects.toMatchObject({
    code: 50301,
    message: 'too many look-ups are waiting already: send the request again later',
  });
  hung.resolve(known);
  expect(await Promise.all(accepted)).toEqual(Array(10_033).fill(undefined));
});
