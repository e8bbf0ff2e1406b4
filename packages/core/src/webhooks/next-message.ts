import type { Cursor } from '../changes/cursor.ts';
import { isBehind } from '../changes/cursor.ts';
import type { SharedPage } from '../changes/kept-pages.ts';
import type { WebhookMessage, webhooks } from '../tables/tables.ts';

/** The maximum number of changes in a message. */
export const maxChanges = 100;

/** The maximum number of bytes of a message, unless a single plant is larger. */
const maxBytes = 20_000;

/** The bytes of a message without its changes. */
const envelope = 120;

type Filter = Pick<typeof webhooks.$inferSelect, 'tag' | 'changeType'>;

type Page = Pick<SharedPage, 'changes' | 'positions' | 'next'>;

/** Returns the JSON of the first changes of a page that fit in a message, and the cursor after them. */
export function takeChanges(page: Page, filter: Filter): { changes: string[]; next: Cursor } {
  const changes: string[] = [];
  let bytes = envelope;
  for (const [i, change] of page.changes.entries()) {
    if (!isWanted(change, filter)) continue;
    bytes += Buffer.byteLength(change) + 1;
    const isFull = changes.length === maxChanges || (bytes > maxBytes && changes.length > 0);
    const last = page.positions[i - 1];
    if (isFull && last) return { changes, next: { ...last, epoch: page.next.epoch } };
    changes.push(change);
  }
  return { changes, next: page.next };
}

/**
 * Returns the JSON of the changes up to the end of a message, for a further attempt.
 *
 * The first attempt may have had more changes, but never fewer: no transaction that began earlier can still
 * add a change. A plant that was deleted meanwhile is missing. Its deletion is after the message, so a
 * receiver ends with the same plants, whichever of the attempts it processes.
 */
export function changesUpTo(to: Cursor, page: Page, filter: Filter): string[] {
  return page.changes.filter((change, i) => {
    const position = page.positions[i];
    return position && !isBehind(position, to) && isWanted(change, filter);
  });
}

function isWanted(change: string, { tag, changeType }: Filter): boolean {
  if (changeType !== null && !change.startsWith(`{"type":"${changeType}"`)) return false;
  if (tag === null) return true;
  // The search is faster than the parse, and both Postgres and JavaScript write a text in the same JSON.
  return change.includes(JSON.stringify(tag)) && JSON.parse(change).plant.tag === tag;
}

export function bodyOf({ type, timestamp }: WebhookMessage, changes: readonly string[]): string {
  const data = type === 'plants.changed' ? `{"changes":[${changes}]}` : '{}';
  return `{"type":"${type}","timestamp":"${timestamp}","data":${data}}`;
}
