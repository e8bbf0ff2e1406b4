import { expect, it } from 'vitest';
import { timeText } from '../../src/bulk/time-text.ts';

it.each([
  '2026-11-21T22:14:13.123456Z',
  '2026-11-21T22:14:13Z',
  '2026-11-21t22:14z',
  '2024-02-29T23:59:59.999999999-15:59',
  '2026-11-21 22:14:13.1+00',
  '2026-11-21 22:14:13+0530',
  '12026-01-31T00:00:00Z',
  '0044-03-15 12:00:00+00 BC',
  '0001-02-29T00:00:00Z BC',
  'infinity',
  '-infinity',
])('accepts %s', (text) => {
  expect(timeText(text)).toBe(text);
});

it('reads a date as midnight in UTC', () => {
  expect(timeText('2026-11-21')).toBe('2026-11-21T00:00:00Z');
  expect(timeText(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
});

it.each([
  '2026-11-21T22:14:13',
  '2025-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10',
  '2026-11-31',
  '0000-01-01T00:00:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T22:60:00Z',
  '2026-11-21T22:14:13+16:00',
  '2026-11-21T22:14:13Z\n',
  '21.11.2026',
  'now',
  '',
  1_700_000_000,
  null,
  new Date(Number.NaN),
])('rejects %s', (value) => {
  expect(timeText(value)).toBe(undefined);
});
