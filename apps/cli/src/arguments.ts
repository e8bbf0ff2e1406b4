import { explainIdText } from '@plant-store/schemas/plain';
import { InvalidArgumentError } from 'commander';

/** The line about exit codes in the help. Scripts rely on these codes. */
const exitCodes =
  'Exit codes: 0 done, 1 an error stopped the command, 2 an argument or a setting is not valid';

/** Makes the end of the help of a command. */
export function examples(...words: string[]): string {
  const lines = words.map((each) => `  plant-store ${each}\n`);
  return `\n${exitCodes}\n\nExample${words.length > 1 ? 's' : ''}:\n${lines.join('')}`;
}

/** Parses the id of a plant. */
export function parseId(text: string): bigint {
  const error = explainIdText(text);
  if (error !== undefined) throw new InvalidArgumentError(`It ${error}.`);
  return BigInt(text);
}

/** Parses a number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.');
}

const milliseconds: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `90d`, and returns the time at which it ends from now. */
export function parseExpiry(text: string): string {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const length = Number(count) * (milliseconds[unit] ?? Number.NaN);
  if (length > 0) return new Date(Date.now() + length).toISOString();
  throw new InvalidArgumentError('It must be a duration such as 90d, 12h or 30m.');
}
