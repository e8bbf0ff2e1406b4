/**
 * Works like `JSON.parse`, but reads integers exactly.
 *
 * An integer within ±(2^53−1) becomes a `number`, and a larger integer becomes a `bigint`. An integer far
 * beyond int64 becomes an inexact `number`. The notation does not matter: `1e3` and `10.00` are integers. A
 * fraction that JavaScript would round to an integer becomes `NaN`.
 *
 * @param read receives each number that `JSON.parse` may round, and returns the value to use.
 * @throws SyntaxError when the text is not JSON, or is nested too deeply for a reviver
 */
export function parseJson(text: string, read: ReadNumber = (exact) => exact): unknown {
  const found = longNumber.exec(text);
  if (!found) return JSON.parse(text);
  const [start, number = ''] = found;
  const isOnlyOne = !longNumber.test(text.slice(found.index + start.length));
  const value =
    isOnlyOne && int64Syntax.test(number)
      ? withInteger(JSON.parse(text), read(BigInt(number)))
      : undefined;
  return value ?? (isExact(text) ? JSON.parse(text) : parseSlowly(text, read));
}

type ReadNumber = (exact: number | bigint) => unknown;

/** Whether plain `JSON.parse` is certain to read every number of a text exactly. */
export function isExact(text: string): boolean {
  return !longNumber.test(text) || !longNumber.test(text.replaceAll(strings, '""'));
}

/** Puts quotes around each integer in a JSON text, if `JSON.parse` would round the integer. */
export function quoteLongIntegers(text: string): string {
  if (isExact(text)) return text;
  return text.replaceAll(stringOrNumber, (token) =>
    int64Syntax.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
}

/**
 * Matches a number that plain `JSON.parse` may round, and the character before the number. `JSON.parse` may
 * round a number that has an exponent or more than 15 digits. The pattern can match a part of a string.
 */
const longNumber = /(?:^|[\s:,[])(-?(?:[\d.]+[eE]|[\d.]{16,}))/;

/** Matches the strings of a JSON text. The closing quote is optional, so that the match takes linear time. */
const strings = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs;

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/** Matches an integer with 16 to 19 digits. The longest int64 has 19 digits. */
const int64Syntax = /^-?\d{16,19}$/;

/**
 * Finds the property whose value is an integer beyond ±(2^53−1), and replaces the value by the exact integer.
 * The text of the object must contain only one long number. Returns undefined without this property.
 */
function withInteger(value: unknown, integer: unknown): object | undefined {
  // For a string, `Object.keys` would return a key for each character.
  if (typeof value === 'string' || Array.isArray(value)) return undefined;
  const object: Record<string, unknown> = Object(value);
  for (const key of Object.keys(object)) {
    if (isUnsafeInteger(object[key])) return { ...object, [key]: integer };
  }
  return undefined;
}

function isUnsafeInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Reads each number from its source text, with a reviver that `JSON.parse` calls for every value. */
function parseSlowly(text: string, read: ReadNumber): unknown {
  try {
    if (!hasSourceText()) return parseMarked(text, read);
    return JSON.parse(text, (_key, value, { source = '' }: Source = {}) =>
      typeof value === 'number' ? read(exactNumber(value, source)) : value,
    );
  } catch (cause) {
    // JSON.parse reads any depth, but the calls of a reviver can overflow the stack.
    throw cause instanceof RangeError ? new SyntaxError('nested too deeply', { cause }) : cause;
  }
}

/** The source text of a number (ES2026 JSON.parse source text access). Node 20 lacks this feature. */
interface Source {
  readonly source?: string;
}

function hasSourceText(): boolean {
  return JSON.parse('1', (_key, _value, context?: Source) => context?.source === '1');
}

/**
 * Reads numbers in an engine without source text access. First replaces each number by a JSON string of
 * U+0000 and the number. Plants cannot contain U+0000, so no other string begins with U+0000.
 */
function parseMarked(text: string, read: ReadNumber): unknown {
  JSON.parse(text); // This call only checks that the text is JSON.
  const marked = text.replaceAll(stringOrNumber, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  return JSON.parse(marked, (_key, value) => {
    if (typeof value !== 'string' || !value.startsWith('\0')) return value;
    const source = value.slice(1);
    return read(exactNumber(Number(source), source));
  });
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The longest int64 has this number of digits. */
const int64Digits = 19;

function exactNumber(value: number, source: string): number | bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = decimal.exec(source) ?? [];

  const digits = whole + fraction;
  const [start, end] = significantRange(digits);
  if (start === end) return 0;

  const zeros = Number(exponent) - fraction.length + digits.length - end;
  if (zeros < 0) return Number.isInteger(value) ? Number.NaN : value;
  if (end - start + zeros > int64Digits) return value;

  const integer = BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros));
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** Finds the first digit that is not a leading zero, and the end of the last digit that is not a trailing zero. */
function significantRange(digits: string): [start: number, end: number] {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return [start, end];
}
