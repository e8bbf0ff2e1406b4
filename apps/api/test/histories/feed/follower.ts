import { setTimeout } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { apply, type Copy, cloneOf, type SeenChange, textOf } from './copy.ts';
import { CursorExpired, UnexpectedError } from './feed-error.ts';
import type { FeedWorld } from './feed-world.ts';
import { list, type Way } from './ways.ts';

/** A client that stores all plants in its memory, and reads the feed to update these plants. */
export type Follower = ReturnType<typeof startFollower>;

/** A follower pauses for this many milliseconds after an error. */
const retryPause = 50;

/** The longest pause of a follower, in milliseconds. After a long pause, the follower reads many changes. */
const longestAbsence = 6_000;

/** Follows the feed. From time to time, the follower restarts and continues from its last saved copy. */
export function startFollower(name: string, way: Way, world: FeedWorld, random: Random) {
  let copy: Copy | undefined;
  let saved: Copy | undefined;
  let read = 0;
  let expired = 0;
  const earlier: SeenChange[][] = [];
  const unexpected: string[] = [];
  const stopped = new AbortController();

  const begin = async (signal: AbortSignal) => {
    const { cursor, plants } = await list(world, random, signal);
    copy = {
      plants: new Map(plants.map((plant) => [plant.id, textOf(plant)])),
      cursor,
      changes: [],
    };
    saved = cloneOf(copy);
  };
  const live = async (signal: AbortSignal) => {
    if (!copy) await begin(signal);
    const current = copy;
    if (!current) return;
    await way(
      world,
      random,
      current.cursor,
      (page) => {
        if (signal.aborted) return;
        read += page.changes.length;
        apply(page, current);
        if (random.isLikely(0.2)) saved = cloneOf(current);
      },
      signal,
    );
  };
  const run = async () => {
    while (!stopped.signal.aborted) {
      const life = AbortSignal.timeout(random.whole(50, random.pick([1_000, 5_000, 20_000])));
      const signal = AbortSignal.any([stopped.signal, life]);
      await live(signal).catch((error) => {
        if (error instanceof CursorExpired) {
          expired++;
          if (copy) earlier.push(copy.changes);
          copy = undefined;
        }
        // A TypeError of `fetch` has a `cause`. A TypeError from a bug in our code has no `cause`.
        const isBug = ['RangeError', 'TypeError'].includes(error.name) && !error.cause;
        if (error instanceof UnexpectedError || isBug) unexpected.push(error.message);
      });
      if (stopped.signal.aborted) return;
      if (copy && saved && random.isLikely(0.4)) copy = cloneOf(saved);
      const pause = random.isLikely(0.3) ? random.whole(retryPause, longestAbsence) : retryPause;
      await setTimeout(pause, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    name,
    /** The plants that the follower knows, or undefined until the follower has listed all plants. */
    get copy() {
      return copy;
    },
    /** For each list of all plants, the changes that the follower has read after this list. */
    get changes() {
      return copy ? [...earlier, copy.changes] : earlier;
    },
    /** The number of changes that the follower has read, including repeated changes. */
    get read() {
      return read;
    },
    /** The number of cursors that were rejected with 41000. */
    get expired() {
      return expired;
    },
    unexpected,
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
