import { expect, it } from 'vitest';
import { ErrorBody, errorCatalogue, errorKind, errorKinds, httpStatus } from '../src/index.ts';

it('keeps the error codes that clients rely on', () => {
  expect(errorKinds.map((kind) => errorCatalogue[kind].code)).toEqual(
    expect.arrayContaining([
      40000, 40001, 40002, 40100, 40101, 40300, 40400, 40401, 40402, 40403, 40500, 40800, 40900,
      40901, 41000, 41200, 41300, 41500, 41700, 42900, 43100, 50000, 50001, 50100, 50300, 50301,
      50302, 50303,
    ]),
  );
});

it.each(errorKinds)('gives %s an error code that starts with the HTTP status', (kind) => {
  expect(String(errorCatalogue[kind].code).slice(0, 3)).toBe(String(httpStatus(kind)));
  expect(httpStatus(kind)).toBeGreaterThanOrEqual(400);
});

it('finds an error by its error code', () => {
  expect(errorKind(40900)).toBe('idTaken');
  expect(errorKind(40999)).toBeUndefined();
});

it('requires that the error code in a body is an int32', () => {
  expect(ErrorBody.safeParse({ error: 2 ** 31, message: '' }).success).toBe(false);
  expect(ErrorBody.safeParse({ error: 40000, message: 'x' }).success).toBe(true);
});
