import type { ChangePage } from './read-changes.ts';

/**
 * The pause between two reads of the feed, in milliseconds. `least` is the minimum. `more` is an additional
 * pause, which ends early when this process makes a change.
 */
export interface Pause {
  readonly least: number;
  readonly more: number;
}

export const usualPause: Pause = { least: 75, more: 75 };
/** The pause while all changes are of a type that no follower wants. */
const pauseUnwanted: Pause = { least: 375, more: 75 };
export const pauseAfterError: Pause = { least: 75, more: 425 };
const noPause: Pause = { least: 0, more: 0 };

/**
 * Each follower that gets a page extends the next pause by `restForEach` ms. All extensions together are at
 * most `maxRest` ms. The pauses leave most of the process's time for requests.
 */
const restForEach = 0.1;
const maxRest = 1_000;

/**
 * Returns the pause after the loop has read a page.
 *
 * @param isNews whether the page moves the cursor of a follower
 * @param told the number of followers that get the page
 */
export function pauseAfter(
  { changes, hasMore }: Pick<ChangePage, 'changes' | 'hasMore'>,
  isNews: boolean,
  told: number,
): Pause {
  const usual = isNews && changes.length === 0 ? pauseUnwanted : usualPause;
  const { least, more } = hasMore ? noPause : usual;
  return { least: least + Math.min(maxRest, restForEach * told), more };
}
