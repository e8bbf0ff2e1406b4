import { explainIdText } from '@plant-store/schemas/plain';
import { InvalidArgumentError } from 'commander';

/** The place at which `plant-store follow` begins. */
export interface StartingPoint {
  /** A cursor of the feed. Default: the end of the feed. */
  readonly cursor?: string;
  /**
   * Before the changes, lists the plants with ids greater than `after`, or all plants if there is no `after`.
   */
  readonly list?: { readonly after?: bigint };
}

/** The words for starting points without a cursor. */
export const startingPoints = { now: {}, start: { list: {} } } satisfies Record<
  string,
  StartingPoint
>;

export const startingPointSyntax = 'must be now, start, or the cursor of a line';

/** Formats the cursor of a listed plant: the feed's cursor at the start of the list, and the plant's id. */
export function formatListCursor(cursor: string, id: bigint): string {
  return `${cursor}.${id}`;
}

/** Parses `now`, `start`, or the cursor of a line. Only the store can check a cursor of the feed. */
export function parseStartingPoint(text: string): StartingPoint {
  if (text === 'now' || text === 'start') return startingPoints[text];
  const [, cursor, id] = /^([\w-]+)(?:\.(-?\d+))?$/.exec(text) ?? [];
  if (!cursor || (id && explainIdText(id) !== undefined)) {
    throw new InvalidArgumentError(`It ${startingPointSyntax}.`);
  }
  return { cursor, ...(id && { list: { after: BigInt(id) } }) };
}
