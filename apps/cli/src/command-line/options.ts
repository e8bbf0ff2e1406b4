import { Int64 } from '@plant-store/schemas';
import { InvalidArgumentError } from 'commander';

/** An id as it is typed. */
export function parseId(text: string): bigint {
  const { data } = Int64.safeParse(/^-?\d{1,40}$/.test(text) ? BigInt(text) : text);
  if (data === undefined) {
    throw new InvalidArgumentError(
      `It must be an integer from ${-(2n ** 63n)} to ${2n ** 63n - 1n}.`,
    );
  }
  return data;
}

/** How many, from 1. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time such as `90d`, in milliseconds; units are s, m, h and d. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new InvalidArgumentError('It must be a time such as 90d, 12h or 30m.');
  return Number(count) * milliseconds[unit as keyof typeof milliseconds]; // The expression lists them.
}

const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** A moment: a date (of UTC), a date and time with its offset, or how long ago it was. */
export function parseMoment(text: string, now = Date.now()): Date {
  if (/^\d+[smhd]$/.test(text)) return new Date(now - parseDuration(text));
  const moment = new Date(time.test(text) && isDate(text.slice(0, 10)) ? text : Number.NaN);
  if (Number.isNaN(moment.getTime())) {
    throw new InvalidArgumentError('It must be like 2026-11-01, 2026-11-01T09:30:00Z or 24h.');
  }
  return moment;
}

/** Whether there is such a day: a Date takes February 30th for March 2nd. */
function isDate(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
