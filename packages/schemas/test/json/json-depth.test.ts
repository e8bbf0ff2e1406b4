import { expect, it } from 'vitest';
import { checkJsonDepth } from '../../src/json/json-depth.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

it('accepts 500 levels, and as many more as an envelope adds', () => {
  expect(() => checkJsonDepth(nested(500))).not.toThrow();
  expect(() => checkJsonDepth({ json: nested(500) }, 1)).not.toThrow();
  for (const value of [5, 'text', null, undefined, {}]) {
    expect(() => checkJsonDepth(value)).not.toThrow();
  }
});

it('rejects 501 levels, even beside a value that is not deep', () => {
  const error = new SyntaxError('nested more than 500 levels deep');
  expect(() => checkJsonDepth(nested(501))).toThrow(error);
  expect(() => checkJsonDepth({ a: 1, json: nested(500) })).toThrow(error);
  expect(() => checkJsonDepth({ json: nested(501) }, 1)).toThrow(error);
});
