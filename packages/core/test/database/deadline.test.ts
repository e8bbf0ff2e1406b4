import { expect, it } from 'vitest';
import { queryWithTimeout } from '../../src/database/deadline.ts';

it('returns the result of a query', async () => {
  await expect(queryWithTimeout(Promise.resolve('row'))).resolves.toBe('row');
});

it('throws databaseUnavailable when a query takes too long', async () => {
  const silence = new Promise(() => {});
  await expect(queryWithTimeout(silence, 10)).rejects.toMatchObject({
    code: 50300,
    message: 'the database did not answer: try again',
    cause: { message: 'no answer within 10 ms' },
  });
});

it('throws databaseUnavailable when a query fails', async () => {
  const cause = new Error('refused');
  await expect(queryWithTimeout(Promise.reject(cause))).rejects.toMatchObject({
    code: 50300,
    cause,
  });
});
