/**
 * Like `JSON.parse`, but reads integers exactly.
 *
 * An integer within ±(2^53−1) becomes a `number`, and one beyond becomes a `bigint`, in every
 * notation (`1e3`, `10.00`). An integer far beyond int64 becomes an inexact `number`. A fraction that
 * JavaScript would round to an integer becomes `NaN`.
 *
 * Needs JSON.parse source text access: Node 22, or a browser of 2025.
 *
 * @throws SyntaxError when the text is not JSON, or is nested too deeply for a reviver
 */
export function parseJson(text: string): unknown {
  if (isExact(text)) return JSON.parse(text);
  try {
    return JSON.parse(text, reviveNumber);
  } catch (cause) {
    // JSON.parse alone reads any depth, but its calls to a reviver can overflow the stack.
    throw cause instanceof RangeError ? new SyntaxError('nested too deeply', { cause }) : cause;
  }
}

/** Whether plain `JSON.parse` is certain to read every number of a text exactly. */
export function isExact(text: string): boolean {
  // A double holds 15 digits, so numbers of up to 15 digits without an exponent are exact.
  return !/[\d.]{16}|\d[eE]/.test(text);
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** An int64 has at most so many digits. */
const int64Digits = 19;

/** A reviver that reads each number from its source text (ES2026 JSON.parse source text access). */
function reviveNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (context?.source === undefined)
    throw new TypeError('this JavaScript engine lacks JSON.parse source text access');
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    decimal.exec(context.source) ?? [];

  const digits = whole + fraction;
  const [start, end] = significantRange(digits);
  if (start === end) return 0;

  const zeros = Number(exponent) - fraction.length + digits.length - end;
  if (zeros < 0) return Number.isInteger(value) ? Number.NaN : value;
  if (end - start + zeros > int64Digits) return value;

  const integer = BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros));
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** The range of the digits without leading and trailing zeros. */
function significantRange(digits: string): [start: number, end: number] {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return [start, end];
}
