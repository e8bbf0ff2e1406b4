import { expect, it } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createLookUps } from '../../src/group-commit/look-ups.ts';

const known = new Map([
  ['ann', 'Ann'],
  ['ben', 'Ben'],
]);

/** Makes look-ups that send at most two statements at a time. */
function lookUpNames(find: (keys: string[], deadline: number) => Promise<typeof known>) {
  return createLookUps<string, string>({ find, maxInFlight: 2 });
}

it('returns the right value for each look-up while another statement hangs', async () => {
  const hung = Promise.withResolvers<typeof known>();
  const lookUps = lookUpNames(async (keys) => (keys.includes('hangs') ? hung.promise : known));
  const [hanging, ...others] = ['hangs', 'ben', 'ann', 'nobody', 'ben'].map((key) =>
    lookUps.run(key),
  );
  expect(await Promise.all(others)).toEqual(['Ben', 'Ann', undefined, 'Ben']);
  hung.resolve(known);
  expect(await hanging).toBeUndefined();
});

it('rejects all look-ups of a statement that fails, and still sends the next statement', async () => {
  const lookUps = lookUpNames(async (keys) => {
    if (keys.includes('fails')) throw new Error('no connection');
    return known;
  });
  const outcomes = await Promise.allSettled(
    ['x', 'x', 'fails', 'ann'].map((key) => lookUps.run(key)),
  );
  const cause = expect.objectContaining({ message: 'no connection' });
  const reason = { code: 50300, message: 'the database did not respond: try again', cause };
  const failed = { reason };
  expect(outcomes.slice(2)).toMatchObject([failed, failed]);
  expect(await lookUps.run('ann')).toBe('Ann');
});

it('looks up equal keys only once, and uses the latest deadline of the look-ups', async () => {
  const statements: [string[], number][] = [];
  const lookUps = lookUpNames(async (...statement) => {
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
  const lookUps = lookUpNames(() => hung.promise);
  // Two statements run, and 10,000 look-ups wait.
  const accepted = Array.from({ length: 10_033 }, (_, i) => lookUps.run(`key ${i}`));
  await expect(lookUps.run('ann')).rejects.toMatchObject({
    code: 50301,
    message: 'too many look-ups are waiting already: send the request again later',
  });
  hung.resolve(known);
  expect(await Promise.all(accepted)).toEqual(Array(10_033).fill(undefined));
});
