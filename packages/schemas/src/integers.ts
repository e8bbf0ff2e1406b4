/**
 * Works like `JSON.parse`, but reads integers exactly.
 *
 * An integer within ±(2^53−1) becomes a `number`. Any other integer of up to 19 digits becomes a `bigint`, and a
 * longer integer becomes an inexact `number`. The notation does not matter: `1e3` and `10.00` are integers. A
 * fraction that JavaScript would round to an integer becomes `NaN`.
 *
 * @param read receives each number that `JSON.parse` may round, and returns the value to use.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(
  text: string,
  read: (exact: number | bigint) => unknown = (exact) => exact,
): unknown {
  if (!mayRound.test(text)) return JSON.parse(text);
  // A reviver would be slow, so `JSON.parse` reads a placeholder for each number that it may round.
  const numbers: unknown[] = [];
  let withPlaces = '';
  let end = 0;
  stringOrNumber.lastIndex = 0;
  for (let token = stringOrNumber.exec(text); token; token = stringOrNumber.exec(text)) {
    const exact = token[1] === undefined ? undefined : exactNumber(token[1]);
    if (exact === undefined) continue;
    withPlaces += text.slice(end, token.index) + (firstPlace + numbers.push(read(exact)) - 1);
    end = stringOrNumber.lastIndex;
  }
  withPlaces += text.slice(end);
  const parsed = { value: undefined as unknown };
  try {
    parsed.value = JSON.parse(withPlaces);
  } catch {
    return JSON.parse(text); // The error of this call quotes the client's text.
  }
  mapNumbers(parsed, (number) => (number >= firstPlace ? numbers[number - firstPlace] : number));
  return parsed.value;
}

/**
 * Matches a text with a number that `JSON.parse` may round: a number with an exponent or more than 15 digits.
 * A text also matches when only a string contains such digits.
 */
const mayRound = /(?:^|[\s:,[])-?(?:[\d.]+[eE]|[\d.]{16,})/;

/** Matches strings and numbers of JSON. A required closing quote would make matching take quadratic time. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|([-+.\deE]+)/gs;

/** The placeholder for the first replaced number. Every number that is not replaced is smaller. */
const firstPlace = 2 ** 52;

/**
 * Reads a number that `JSON.parse` may round. Returns undefined for most other numbers, and for a text that is
 * not a number of JSON.
 */
function exactNumber(source: string): number | bigint | undefined {
  const value = Number(source);
  // JavaScript does not round a number with at most 15 digits.
  if (source.length <= 15 && value !== 0 && Math.abs(value) < firstPlace) return undefined;
  const decimal = jsonNumber.exec(source);
  if (!decimal) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = decimal;

  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  if (start === end) return 0;

  const zeros = Number(exponent) - fraction.length + digits.length - end;
  if (zeros < 0) return Number.isInteger(value) ? Number.NaN : value;
  // The longest int64 has 19 digits.
  if (end - start + zeros > 19 || Number.isSafeInteger(value)) return value;
  return BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros));
}

const jsonNumber = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Replaces the numbers in a parsed object or list, at any depth. */
export function mapNumbers(
  object: Record<string, unknown>,
  replace: (number: number, key: string) => unknown,
): void {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (typeof value === 'number') object[key] = replace(value, key);
    else if (typeof value === 'object' && value) mapNumbers(value as typeof object, replace);
  }
}

/** Works like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'bigint' ? integerForJson(each) : each,
  );
}

/** Returns a value that `JSON.stringify` writes as an integer. */
export function integerForJson(integer: bigint): unknown {
  // TypeScript does not have the type of `JSON.rawJSON` (ES2026) yet.
  return (JSON as JSON & { rawJSON(text: string): unknown }).rawJSON(String(integer));
}

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

/** Describes the range of an id in error messages and in the OpenAPI document. */
export const int64Range = `from ${int64Bounds.minimum} to ${int64Bounds.maximum}`;

/** Whether an integer is in the range of int64. */
export function isInt64(integer: bigint): boolean {
  return integer >= int64Bounds.minimum && integer <= int64Bounds.maximum;
}

/** Matches a whole number in plain decimal. */
export const integerPattern = /^(0|-?[1-9]\d*)$/;

export const notWhole = 'must be a whole number';

/**
 * Reads an id from a text that a person wrote: a form field, a CSV cell, a part of a path or an argument. An
 * id is a plain decimal, such as `42` or `-5`. The texts `007`, `+5`, `1e3`, `0x10`, spaces and the empty
 * text are not ids. Web pages call this function before they load zod.
 */
export function readId(text: string): { id?: bigint; error?: string } {
  if (!integerPattern.test(text)) return { error: notWhole };
  // BigInt takes seconds for a text of a million digits. The longest int64 has 20 characters.
  const isId = text.length <= 20 && isInt64(BigInt(text));
  return isId ? { id: BigInt(text) } : { error: `must be ${int64Range}` };
}
