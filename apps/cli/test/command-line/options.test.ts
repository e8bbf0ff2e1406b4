import { describe, expect, it } from 'vitest';
import { parseDuration, parseId, parseMoment } from '../../src/command-line/options.ts';

describe('a moment', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  it.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T09:30Z', '2026-11-01T09:30:00.000Z'],
    ['2026-11-01T09:30:15.5+02:00', '2026-11-01T07:30:15.500Z'],
    ['90m', '2026-11-20T10:30:00.000Z'],
    ['2d', '2026-11-18T12:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(parseMoment(text, now).toISOString()).toBe(moment);
  });

  it.each(['', 'soon', '2026', '2026-11-01T09:30', '2026-02-30T00:00Z', '0d'])(
    '%j is refused, for it may be meant differently',
    (text) => {
      expect(() => parseMoment(text, now)).toThrow('It must be');
    },
  );
});

it.each([
  ['30s', 30_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
])('%s takes %d ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each(['9223372036854775808', '1e3', ' 1', '', '0x1'])('the id %j is refused', (text) => {
  expect(() => parseId(text)).toThrow('It must be an integer from -9223372036854775808 to');
});
