import { explainIdText, maxSearch, type Scope, scopes } from '@plant-store/schemas/plain';
import { InvalidArgumentError } from 'commander';

export function parseId(text: string): bigint {
  const error = explainIdText(text);
  if (error !== undefined) throw new InvalidArgumentError(`It ${error}.`);
  return BigInt(text);
}

/** Parses a number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.');
  }
  return Number(text);
}

/** Parses a text that the name of a plant must contain. */
export function parseSearch(text: string): string {
  if (text === '' || text.length > maxSearch) {
    throw new InvalidArgumentError(`It must have 1 to ${maxSearch} characters.`);
  }
  return text;
}

/** Parses the delimiter of a CSV file. A tab is hard to type, so users can write `tab`. */
export function parseDelimiter(text: string): string {
  if (text === 'tab' || text === '\\t') return '\t';
  if (/^[^"\r\n\p{L}\p{N}]$/u.test(text) && text.length === 1) return text;
  throw new InvalidArgumentError('It must be one character, such as ; or |, or the word tab.');
}

/** The names of the scopes on the command line: `create` for `plants:create`. */
export const scopeNames = scopes.map((scope) => scope.replace(/^.*:/, ''));

/** Parses scopes that are separated by commas: `create,read`, or `plants:create,plants:read`. */
export function parseScopes(text: string): Scope[] {
  const parsed = text.split(',').map((name) => {
    const scope = scopes.find((each) => name === each || each.endsWith(`:${name}`));
    if (scope) return scope;
    throw new InvalidArgumentError(
      `It must be one or more of ${scopeNames.join(', ')}, separated by commas.`,
    );
  });
  return [...new Set(parsed)];
}

const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration such as `90d` into milliseconds. The units are s, m, h and d. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (!count || !unit) {
    throw new InvalidArgumentError(
      'It must be a duration such as 90d, 12h or 30m, with a number from 1 to 999999.',
    );
  }
  // The cast is safe, because the pattern matches only these units.
  return Number(count) * milliseconds[unit as keyof typeof milliseconds];
}

const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Parses a point in time: a date (in UTC), a date and time with a UTC offset, or a duration before now. */
export function parseTime(text: string, now = Date.now()): Date {
  if (/^\d+[smhd]$/.test(text)) return new Date(now - parseDuration(text));
  const parsed = new Date(time.test(text) && isDate(text.slice(0, 10)) ? text : Number.NaN);
  if (Number.isNaN(parsed.getTime())) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-01, 2026-11-01T09:30:00Z or 24h.',
    );
  }
  return parsed;
}

/** Whether a date exists in the calendar. JavaScript itself parses February 30 as March 2. */
function isDate(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
