const date = '(\\d{4,6})-(\\d\\d)-(\\d\\d)';
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?';
const offset = '(?:Z|[+-](?:0\\d|1[0-5])(?::?[0-5]\\d)?)';
const anyTime = new RegExp(`^${date}([T ]${clock}${offset})?( BC)?$`, 'i');

/**
 * Formats a time for Postgres. Postgres rounds times to microseconds. A text must be a time of RFC 3339, a
 * date in UTC, or a time in Postgres's own format, such as `infinity`. The offset may lack the minutes.
 *
 * @returns undefined when the value is not a time
 */
export function timeText(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (typeof value !== 'string') return undefined;
  if (/^-?infinity$/.test(value)) return value;
  const [, year, month, day, time, isBC] = anyTime.exec(value) ?? [];
  if (!isDay(Number(year), Number(month), Number(day), isBC !== undefined)) return undefined;
  if (time !== undefined) return value;
  return `${year}-${month}-${day}T00:00:00Z${isBC ?? ''}`;
}

/** Whether a day exists. For leap years, 1 BC counts as the year 0. */
function isDay(year: number, month: number, day: number, isBC: boolean): boolean {
  if (!(year > 0)) return false;
  const date = new Date(0);
  date.setUTCFullYear(isBC ? 1 - year : year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
