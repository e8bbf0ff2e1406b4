import type { Caller } from '../database/deadline.ts';

/**
 * The maximum total size of the names and tags in a page, in bytes. The first row of a page may have any
 * size.
 */
export const maxPageBytes = 1024 * 1024;

/** The approximate number of bytes in a row without its name and tag. */
const rowBytes = 128;

/**
 * Reserves the caller's memory for a page. When a statement gets its turn, `onTurn` reserves as much memory
 * as the page may need. `settle` changes the reservation to the actual size of the page. A page reserves no
 * memory before the statement gets its turn.
 *
 * @param maxRows the maximum number of rows in the page
 * @param maxBytes the maximum total size of the names and tags in the page, in bytes
 */
export function reservePage(
  caller: Caller | undefined,
  maxRows: number,
  maxBytes: number = maxPageBytes,
) {
  let settle: ((bytes: number) => void) | undefined;
  return {
    /** Pass `onTurn` as an option of the statement. The statement may call `onTurn` twice. */
    onTurn() {
      settle ??= caller?.reserve?.(maxBytes + maxRows * rowBytes);
    },
    /** @param bytes the size of the page's JSON */
    settle(bytes: number) {
      settle?.(bytes);
    },
  };
}
