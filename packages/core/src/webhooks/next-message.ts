import type { Cursor } from '../changes/cursor.ts';
import { isBehind, type Position } from '../changes/cursor.ts';
import { changeForTag, type SharedPage } from '../changes/kept-pages.ts';
import type { webhooks } from '../tables/tables.ts';
import type { WebhookMessage } from '../tables/webhook-values.ts';

/** The maximum number of changes in a message. */
export const maxChanges = 100;

/** The maximum number of bytes of a message, unless a single plant is larger. */
const maxBytes = 20_000;

/** The approximate number of bytes in a message without changes. */
const envelope = 120;

type Filter = Pick<typeof webhooks.$inferSelect, 'tag' | 'changeType'>;

type Page = Pick<SharedPage, 'changes' | 'positions' | 'next'>;

/**
 * Returns the JSON of a page's first changes, as many as fit in a message, and the cursor after these
 * changes.
 */
export function takeChanges(page: Page, filter: Filter): { changes: string[]; next: Cursor } {
  const changes: string[] = [];
  let bytes = envelope;
  for (const [i, position] of page.positions.entries()) {
    const change = filtered(page.changes[i], position, filter);
    if (change === undefined) continue;
    bytes += Buffer.byteLength(change) + 1;
    const isFull = changes.length === maxChanges || (bytes > maxBytes && changes.length > 0);
    const last = page.positions[i - 1];
    if (isFull && last) return { changes, next: { ...last, epoch: page.next.epoch } };
    changes.push(change);
  }
  return { changes, next: page.next };
}

/**
 * Returns the JSON of the changes in a message, for another attempt to send the message.
 *
 * The first attempt may have had more changes, but never fewer, because no earlier transaction can still add
 * a change. The new attempt lacks the plants that were deleted meanwhile. A later message has their
 * deletions, so the receiver may process either attempt. Even an attempt without changes is sent: the receiver
 * then knows the id, and skips the first attempt if it arrives late.
 */
export function changesUpTo(to: Cursor, page: Page, filter: Filter): string[] {
  return page.positions.flatMap((position, i) => {
    const change = isBehind(position, to) ? undefined : filtered(page.changes[i], position, filter);
    return change ?? [];
  });
}

/** Returns a change for the endpoint, or undefined when the filter drops the change. */
function filtered(change = '', position: Position, { tag, changeType }: Filter) {
  const wanted = tag === null ? change : changeForTag(change, position, tag);
  const isOfType = changeType === null || wanted?.startsWith(`{"type":"${changeType}"`);
  return isOfType ? wanted : undefined;
}

export function bodyOf({ type, timestamp }: WebhookMessage, changes: readonly string[]): string {
  const data = type === 'plants.changed' ? `{"changes":[${changes}]}` : '{}';
  return `{"type":"${type}","timestamp":"${timestamp}","data":${data}}`;
}
