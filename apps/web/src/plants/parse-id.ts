import { Int64 } from '@plant-store/schemas';

/** Reads an id that a person typed, exactly. A text that is not a plain decimal stays a text. */
export function parseId(text: string): bigint | string {
  const digits = text.trim();
  // BigInt takes seconds for a million digits.
  return digits.length <= 20 && /^(0|-?[1-9]\d*)$/.test(digits) ? BigInt(digits) : digits;
}

/** What is wrong with an id that a person typed; undefined for an id, and for an empty text. */
export function idProblem(text: string): string | undefined {
  if (text === '') return undefined;
  return Int64.safeParse(parseId(text)).error?.issues[0]?.message;
}
