import type { Caller } from '../database/deadline.ts';

/** The most bytes of names and tags in a page. A page has at least one row, of any size. */
export const maxPageBytes = 1024 * 1024;

/** The approximate bytes of a row without its name and tag. */
const rowBytes = 128;

/**
 * Reserves memory of the caller for a page. When its statement has its turn, this is as much as the page may
 * need. Then it becomes the actual size of the page. So pages that wait for their turn need no memory.
 *
 * @param maxRows the most rows in the page
 */
export function reservePage(caller: Caller | undefined, maxRows: number) {
  let settle: ((bytes: number) => void) | undefined;
  return {
    /** Pass this as an option of the statement. The statement may call it twice. */
    onTurn() {
      settle ??= caller?.reserve?.(maxPageBytes + maxRows * rowBytes);
    },
    /** @param bytes the size of the page as JSON */
    settle(bytes: number) {
      settle?.(bytes);
    },
  };
}
