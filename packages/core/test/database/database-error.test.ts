import { expect, it } from 'vitest';
import { isDataError, isLateWrite, lateWrite } from '../../src/database/database-error.ts';

const databaseError = (code: string, message = 'from the server') =>
  Object.assign(new Error(message), { code });

it('recognizes the error of a late write, and does not treat the error as a data error', () => {
  const late = databaseError('22P02', `invalid input syntax: "${lateWrite}: 2026-11-22"`);
  const wrapped = new Error('a statement failed', { cause: late });
  for (const error of [late, wrapped]) {
    expect(isLateWrite(error)).toBe(true);
    expect(isDataError(error)).toBe(false);
  }
  for (const code of ['22P02', '22021', '23514', '23502', 'P0001']) {
    expect(isLateWrite(databaseError(code))).toBe(false);
    expect(isDataError(databaseError(code))).toBe(true);
  }
  expect(isLateWrite(databaseError('40001', lateWrite))).toBe(false);
  expect(isDataError(databaseError('40001'))).toBe(false);
  expect(isDataError(new Error('no connection'))).toBe(false);
});
