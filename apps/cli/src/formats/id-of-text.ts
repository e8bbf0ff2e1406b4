import { IdFromText, int64Bounds } from '@plant-store/schemas';

/** A number of up to 15 digits is exact. */
const short = /^(0|-?[1-9]\d{0,14})$/;
/** 15 digits and a sign. */
const maxShortLength = 16;
const long = /^-?[1-9]\d{15,18}$/;

/**
 * Reads an id that is written in plain decimal. It reads exactly what `IdFromText` accepts, faster.
 *
 * @returns undefined when the text is no id
 */
export function idOfText(text: string): number | bigint | undefined {
  if (text.length <= maxShortLength && short.test(text)) return Number(text);
  if (!long.test(text)) return undefined;
  const id = BigInt(text);
  return id >= int64Bounds.minimum && id <= int64Bounds.maximum ? id : undefined;
}

/** Says what is wrong with a text that is no id. */
export function idError(text: string | undefined): string {
  return IdFromText.safeParse(text).error?.issues[0]?.message ?? 'is no id';
}
