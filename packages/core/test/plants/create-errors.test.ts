import { expect, it } from 'vitest';
import { insertError, plantRejected } from '../../src/plants/create-errors.ts';

const error = (fields: object) => Object.assign(new Error('from the database'), fields);

it.each(['53100', '53200', '40P01', '40001', '55P03', '42P01', '25006', '10857', undefined])(
  'says that nothing was written after an ERROR with the SQLSTATE %s',
  (code) => {
    const cause = error({ severity: 'ERROR', code });
    expect(insertError(cause)).toMatchObject({
      kind: 'databaseUnavailable',
      message: `the database cannot do this now (SQLSTATE ${code}): nothing was written, send it again later`,
      cause,
    });
  },
);

it.each([
  error({ severity: 'FATAL', code: '57P01' }),
  error({ severity: 'PANIC', code: '53100' }),
  error({ code: 'CONNECTION_CLOSED' }),
  error({ code: '53100' }),
  new Error('no response within 5000 ms'),
  { severity: 'ERROR', code: '53100' },
  undefined,
  error({ severity: 'ERROR', code: '57014' }),
  error({ severity: 'ERROR', code: '08006' }),
  error({ severity: 'ERROR', code: '40003' }),
  error({ severity: 'ERROR', code: 'XX000' }),
])('says that a plant may be stored after any other error (%#)', (cause) => {
  expect(insertError(cause)).toMatchObject({
    kind: 'databaseUnavailable',
    message: 'the database did not respond: the plant may still be stored, send it again',
    cause,
  });
});

it.each([
  ['22P05', 'invalidInput', 'invalid input: the database cannot hold this plant (SQLSTATE 22P05)'],
  ['22021', 'invalidInput', 'invalid input: the database cannot hold this plant (SQLSTATE 22021)'],
  [
    '22001', // The text is too long, because somebody has limited the length of the column.
    'plantRejected',
    'the table does not allow this plant (SQLSTATE 22001): nothing was written, tell the operator before you send it again',
  ],
  [
    '23514',
    'plantRejected',
    'the table does not allow this plant (SQLSTATE 23514): nothing was written, tell the operator before you send it again',
  ],
])('says whether the plant or the table causes the SQLSTATE %s', (code, kind, message) => {
  const cause = error({ code });
  expect(plantRejected(cause)).toMatchObject({ kind, message, cause });
});
