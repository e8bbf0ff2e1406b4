import type { Cursor } from '../changes/cursor.ts';
import { advance, isBehind } from '../changes/cursor.ts';
import type { SharedPage } from '../changes/kept-pages.ts';
import type { webhooks } from '../tables/tables.ts';
import type { WebhookMessage } from '../tables/webhook-values.ts';

/** The maximum number of changes in a message. */
export const maxChanges = 100;

/** The maximum number of bytes of a message, unless a single plant is larger. */
const maxBytes = 20_000;

/** The approximate number of bytes in a message without changes. */
const envelope = 120;

type Filter = Pick<typeof webhooks.$inferSelect, 'tag' | 'changeType'>;

type Page = Pick<SharedPage, 'after' | 'changes' | 'positions' | 'next'>;

/**
 * Returns the JSON of a page's first changes, as many as fit in a message, and the cursor after these
 * changes.
 */
export function takeChanges(page: Page, filter: Filter): { changes: string[]; next: Cursor } {
  const changes: string[] = [];
  let bytes = envelope;
  for (const [i, change] of page.changes.entries()) {
    if (!isWanted(change, filter)) continue;
    bytes += Buffer.byteLength(change) + 1;
    const isFull = changes.length === maxChanges || (bytes > maxBytes && changes.length > 0);
    if (isFull) return { changes, next: advance(page.after, page.positions.slice(0, i)) };
    changes.push(change);
  }
  return { changes, next: page.next };
}

/**
 * Returns the JSON of the changes in a message, for another attempt to send the message.
 *
 * The first attempt may have had more changes, but never fewer, because no earlier transaction can still add
 * a change. The new attempt lacks the plants that were deleted meanwhile. A later message has their
 * deletions, so the receiver may process either attempt.
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
  // Searching the text is faster than parsing the JSON. Postgres and JavaScript write a tag as the same JSON.
  return change.includes(JSON.stringify(tag)) && JSON.parse(change).plant.tag === tag;
}

export function bodyOf({ type, timestamp }: WebhookMessage, changes: readonly string[]): string {
  const data = type === 'plants.changed' ? `{"changes":[${changes}]}` : '{}';
  return `{"type":"${type}","timestamp":"${timestamp}","data":${data}}`;
}
