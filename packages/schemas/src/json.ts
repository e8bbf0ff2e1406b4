/**
 * Works like `JSON.parse`, but reads integers exactly, in every engine.
 *
 * An integer within ±(2^53−1) becomes a `number`, and a larger integer becomes a `bigint`. An integer far
 * beyond int64 becomes an inexact `number`. The notation does not matter: `1e3` and `10.00` are integers. A
 * fraction that JavaScript would round to an integer becomes `NaN`.
 *
 * @param read receives each number that `JSON.parse` may round, and returns the value to use.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string, read: ReadNumber = (exact) => exact): unknown {
  if (!mayRound.test(text)) return JSON.parse(text);
  const numbers: unknown[] = [];
  const numbered = replaceNumbers(text, (exact) => {
    return String(firstPlace + numbers.push(read(exact)) - 1);
  });
  let value: unknown;
  try {
    value = JSON.parse(numbered);
  } catch {
    return JSON.parse(text); // Its error quotes the text of the client.
  }
  return mapNumbers(value, (number) => {
    return number >= firstPlace ? numbers[number - firstPlace] : number;
  });
}

type ReadNumber = (exact: number | bigint) => unknown;

/**
 * Matches a text with a number that `JSON.parse` may round: a number with an exponent or more than 15 digits.
 * Some strings match, too.
 */
const mayRound = /(?:^|[\s:,[])-?(?:[\d.]+[eE]|[\d.]{16,})/;

/**
 * Stands for the first of the exact numbers in the text for `JSON.parse`. Every larger value is a place, too:
 * `exactNumber` returns each number that is not smaller.
 */
const firstPlace = 2 ** 52;

/** Puts quotes around each integer in a JSON text, if `JSON.parse` would round the integer. */
export function quoteIntegers(text: string): string {
  if (!mayRound.test(text)) return text;
  return replaceNumbers(text, (exact, source) =>
    typeof exact === 'bigint' ? `"${exact}"` : source,
  );
}

/** Replaces each number of a JSON text that `JSON.parse` may round. */
function replaceNumbers(
  text: string,
  replace: (exact: number | bigint, source: string) => string,
): string {
  let replaced = '';
  let start = 0;
  stringOrNumber.lastIndex = 0;
  for (let token = stringOrNumber.exec(text); token; token = stringOrNumber.exec(text)) {
    const source = token[1];
    const exact = source === undefined ? undefined : exactNumber(source);
    if (source === undefined || exact === undefined) continue;
    replaced += text.slice(start, token.index) + replace(exact, source);
    start = stringOrNumber.lastIndex;
  }
  return replaced + text.slice(start);
}

/** Matches the strings and numbers of a JSON text. The closing quote is optional, so matching is linear. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|([-+.\deE]+)/gs;

/** Replaces the numbers in a parsed value. A loop has no limit for the depth, unlike a reviver. */
export function mapNumbers(
  root: unknown,
  replace: (number: number, key: string) => unknown,
): unknown {
  const top = { root };
  const objects: Record<string, unknown>[] = [top];
  for (let object = objects.pop(); object; object = objects.pop()) {
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (typeof value === 'number') object[key] = replace(value, key);
      // Objects and lists both have keys.
      if (typeof value === 'object' && value) objects.push(value as Record<string, unknown>);
    }
  }
  return top.root;
}

/**
 * Reads a number exactly. Returns undefined for a number that `JSON.parse` reads exactly, and for a text that is
 * not a number of JSON.
 */
function exactNumber(source: string): number | bigint | undefined {
  const value = Number(source);
  const isShort = source.length <= exactLength;
  if (isShort && value !== 0 && Math.abs(value) < firstPlace) return undefined;
  const decimal = jsonNumber.exec(source);
  if (!decimal || source === '0') return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = decimal;

  const digits = whole + fraction;
  const [start, end] = significantRange(digits);
  if (start === end) return 0;

  const zeros = Number(exponent) - fraction.length + digits.length - end;
  if (zeros < 0) return Number.isInteger(value) ? Number.NaN : value;
  if (end - start + zeros > int64Digits) return value;

  if (Number.isSafeInteger(value)) return value;
  return BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros));
}

/** `JSON.parse` does not round a number with at most this number of digits, if the number is in a safe range. */
const exactLength = 15;

const jsonNumber = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The longest int64 has this number of digits. */
const int64Digits = 19;

/** Finds the first digit that is not a leading zero, and the end of the last digit that is not a trailing zero. */
function significantRange(digits: string): [start: number, end: number] {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return [start, end];
}

/**
 * Works like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back.
 *
 * @param indent the number of spaces for each level. By default, the text has one line.
 */
export function formatJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? integerForJson(each) : each),
    indent,
  );
  return rawJson() ? json : withIntegers(json);
}

/** Returns a value that `JSON.stringify` writes exactly, or a text that `withIntegers` replaces. */
export function integerForJson(integer: bigint): unknown {
  return rawJson()?.(String(integer)) ?? `\0${integer}`;
}

/** JSON.rawJSON of ES2026. Node 20 and the types of TypeScript do not have this function. */
export function rawJson() {
  return (JSON as JSON & { rawJSON?(text: string): unknown }).rawJSON;
}

/** Replaces each text that `integerForJson` has returned by the digits of the integer. */
export function withIntegers(json: string): string {
  return json.replaceAll(markedInteger, '$1');
}

/** Matches a text of U+0000 and digits. Plants cannot contain U+0000, so no other text matches. */
const markedInteger = /"\\u0000(-?\d+)"/g;
