/**
 * `JSON.parse` for texts that carry int64 values: every number is exactly what the text says.
 *
 * An integer is a `number` where that is exact (±(2^53−1)) and a `bigint` beyond, whichever way it
 * is spelled (`1e3`, `10.00`); integers far beyond int64 stay `number`. A fraction never becomes an
 * integer by rounding: it is `NaN` where it would.
 *
 * Needs JSON.parse source text access: Node 22, or a browser of 2025.
 *
 * @throws SyntaxError when the text is not JSON or is nested too deeply to be read so.
 */
export function parseJson(text: string): unknown {
  if (isExact(text)) return JSON.parse(text);
  try {
    return JSON.parse(text, exactly);
  } catch (cause) {
    // JSON.parse goes to any depth, but calls a reviver only as deep as the stack is.
    throw cause instanceof RangeError ? new SyntaxError('nested too deeply', { cause }) : cause;
  }
}

/** Whether `JSON.parse` is sure to read every number of a text as exactly what it says. */
export function isExact(text: string): boolean {
  // Numbers of up to 15 digits and without an exponent are: a double holds 15 digits.
  return !/[\d.]{16}|\d[eE]/.test(text);
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** More digits than this no int64 has. */
const int64Digits = 19;

/** A reviver that reads a number again from its source text (ES2026 JSON.parse source text access). */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (context?.source === undefined) throw new TypeError('JSON.parse gives no source text here');
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    decimal.exec(context.source) ?? [];

  const digits = whole + fraction;
  const [start, end] = significant(digits);
  if (start === end) return 0;

  const zeros = Number(exponent) - fraction.length + digits.length - end;
  if (zeros < 0) return Number.isInteger(value) ? Number.NaN : value;
  if (end - start + zeros > int64Digits) return value;

  const integer = BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros));
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** Where the digits other than leading and trailing zeros start and end. */
function significant(digits: string): [start: number, end: number] {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return [start, end];
}
