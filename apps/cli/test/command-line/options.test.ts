import { describe, expect, it } from 'vitest';
import {
  parseDelimiter,
  parseDuration,
  parseScopes,
  parseTime,
} from '../../src/command-line/options.ts';

describe('a time', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  it.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T09:30Z', '2026-11-01T09:30:00.000Z'],
    ['2026-11-01T09:30:15.5+02:00', '2026-11-01T07:30:15.500Z'],
    ['90m', '2026-11-20T10:30:00.000Z'],
    ['2d', '2026-11-18T12:00:00.000Z'],
  ])('parses %s as %s', (text, time) => {
    expect(parseTime(text, now).toISOString()).toBe(time);
  });

  it.each(['', 'soon', '2026', '2026-11-01T09:30', '2026-02-30T00:00Z', '0d'])(
    'rejects the time %j',
    (text) => {
      expect(() => parseTime(text, now)).toThrow('It must be');
    },
  );
});

it.each([
  ['30s', 30_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
])('parses the duration %s as %d ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each([
  ['read', ['plants:read']],
  ['create,read', ['plants:create', 'plants:read']],
  ['plants:delete,read', ['plants:delete', 'plants:read']],
  ['read,plants:read', ['plants:read']],
])('parses the scopes %s', (text, scopes) => {
  expect(parseScopes(text)).toEqual(scopes);
});

it.each(['', 'write', 'create,', 'Read', 'plants:', 'create read', 'plants:plants:read'])(
  'rejects the scopes %j, and names the valid scopes',
  (text) => {
    expect(() => parseScopes(text)).toThrow(
      'It must be one or more of create, read, delete, manage, separated by commas.',
    );
  },
);

it.each([':', 'tab'])('parses the delimiter %s', (text) => {
  expect(parseDelimiter(text)).toBe(text === 'tab' ? '\t' : text);
});
