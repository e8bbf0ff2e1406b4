/**
 * Works like `JSON.parse`, but reads integers exactly.
 *
 * An integer within ±(2^53−1) becomes a `number`, and a larger integer becomes a `bigint`. An integer far
 * beyond int64 becomes an inexact `number`. The notation does not matter: `1e3` and `10.00` are integers. A
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
  // A reviver would be slow, and limits the depth. So `JSON.parse` reads the places of these numbers.
  const numbers: unknown[] = [];
  const withPlaces = replaceNumbers(text, (exact) =>
    String(firstPlace + numbers.push(read(exact)) - 1),
  );
  let value: unknown;
  try {
    value = JSON.parse(withPlaces);
  } catch {
    return JSON.parse(text); // Its error quotes the text of the client.
  }
  return mapNumbers(value, (number) =>
    number >= firstPlace ? numbers[number - firstPlace] : number,
  );
}

/**
 * Matches a text with a number that `JSON.parse` may round: a number with an exponent or more than 15 digits.
 * A string with such a text matches, too.
 */
const mayRound = /(?:^|[\s:,[])-?(?:[\d.]+[eE]|[\d.]{16,})/;

/** The number in place of the first replaced number. Every number that is not replaced is smaller. */
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
  let end = 0;
  stringOrNumber.lastIndex = 0;
  for (let token = stringOrNumber.exec(text); token; token = stringOrNumber.exec(text)) {
    const source = token[1];
    const exact = source === undefined ? undefined : exactNumber(source);
    if (source === undefined || exact === undefined) continue;
    replaced += text.slice(end, token.index) + replace(exact, source);
    end = stringOrNumber.lastIndex;
  }
  return replaced + text.slice(end);
}

/** Matches the strings and numbers of a JSON text. The closing quote is optional, so matching is linear. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|([-+.\deE]+)/gs;

/** Replaces the numbers in a parsed value. */
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
  // JavaScript does not round a number with at most 15 digits.
  if (source.length <= 15 && value !== 0 && Math.abs(value) < firstPlace) return undefined;
  const decimal = jsonNumber.exec(source);
  if (!decimal || source === '0') return undefined;
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

/**
 * Works like `JSON.stringify`, but writes a `bigint` as an exact integer, which `parseJson` reads back.
 *
 * @param indent the number of spaces for each level. By default, the text has one line.
 */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? integerForJson(each) : each),
    indent,
  );
}

/** Returns a value that `JSON.stringify` writes as an integer. */
export function integerForJson(integer: bigint): unknown {
  // The types of TypeScript do not have JSON.rawJSON of ES2026.
  return (JSON as JSON & { rawJSON(text: string): unknown }).rawJSON(String(integer));
}
