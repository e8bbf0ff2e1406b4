import { expect, it } from 'vitest';
import { answerInTime } from '../../src/database/timeout.ts';

it('passes on what a query answers', async () => {
  await expect(answerInTime(Promise.resolve('row'))).resolves.toBe('row');
});

it('says that the database is unavailable when a query never answers', async () => {
  const silence = new Promise(() => {});
  await expect(answerInTime(silence, 10)).rejects.toMatchObject({
    error: 50300,
    message: 'the database did not answer: try again',
    cause: { message: 'no answer within 10 ms' },
  });
});

it('says that the database is unavailable when a query fails', async () => {
  const cause = new Error('refused');
  await expect(answerInTime(Promise.reject(cause))).rejects.toMatchObject({ error: 50300, cause });
});
