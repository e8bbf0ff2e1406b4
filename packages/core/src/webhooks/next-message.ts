import type { Cursor, Position } from '../changes/cursor.ts';
import { changeForTag, type SharedPage } from '../changes/kept-pages.ts';
import type { webhooks } from '../tables/tables.ts';

/** The maximum number of changes in a message. */
export const maxChanges = 100;

/** The maximum number of bytes in a message. A message with only one change may be larger. */
const maxBytes = 20_000;

/** The approximate number of bytes in a message without changes. */
const envelope = 120;

type Filter = Pick<typeof webhooks.$inferSelect, 'tag' | 'changeType'>;

type Page = Pick<SharedPage, 'changes' | 'positions' | 'next'>;

/**
 * Returns the JSON of the first changes of a page, and the cursor after these changes. Returns as many
 * changes as fit into a message.
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

/** Returns a change for the endpoint, or undefined when the filter drops the change. */
function filtered(change = '', position: Position, { tag, changeType }: Filter) {
  const wanted = tag === null ? change : changeForTag(change, position, tag);
  const isOfType = changeType === null || wanted?.startsWith(`{"type":"${changeType}"`);
  return isOfType ? wanted : undefined;
}

export type MessageType = 'plants.changed' | 'plants.reset' | 'plants.test';

export function bodyOf(type: MessageType, changes: readonly string[] = []): string {
  const data = type === 'plants.changed' ? `{"changes":[${changes}]}` : '{}';
  return `{"type":"${type}","timestamp":"${new Date().toISOString()}","data":${data}}`;
}
