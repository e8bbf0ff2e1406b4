import { Readable } from 'node:stream';
import type { MemoryLimits } from '../requests/memory/limit-memory.ts';

interface EventStreamOptions<Page> extends Pick<MemoryLimits, 'countPart'> {
  pages: AsyncIterator<Page>;
  /** Writes the events of a page of changes. */
  partOf(page: Page): Buffer;
  /** Throws when the client is no longer allowed to get pages. */
  check(): Promise<void>;
  /** The text that an idle stream sends at intervals. */
  ping: string;
  /** Writes the event of an error. Returns undefined when the client need not know the error. */
  errorEvent(error: unknown): string | undefined;
  /** The controller stops the feed when the stream ends. */
  connection: AbortController;
}

/** Milliseconds between two pings. A ping shows proxies and clients that the connection works. */
const pingInterval = 10_000;

/** A client connects again after this number of milliseconds without an event. */
export const reconnectAfterInactivity = 25_000;

/** A stream ends after at most these milliseconds. Its client connects again, perhaps to a new instance. */
const maxDuration = 60_000;

/**
 * Makes a stream of events. When the client should connect again, the stream ends without an error event. The
 * stream reads a page only after the connection has taken the previous page, so a slow client takes the
 * memory of only one page.
 */
export function eventStream<Page>({
  pages,
  partOf,
  check,
  countPart,
  ping: pingText,
  errorEvent,
  connection,
}: EventStreamOptions<Page>): Readable {
  let isReading = false;
  let release = () => {};
  const stream = new Readable({
    highWaterMark: 0, // Never read ahead.
    read: () => void (isReading || readNext()),
    destroy(error, done) {
      connection.abort();
      clearInterval(ping);
      clearTimeout(timeout);
      release();
      done(error);
    },
  });
  const ping = setInterval(() => {
    if (isReading && stream.readableFlowing) stream.push(pingText);
  }, pingInterval);
  // Each stream ends after a random time, so that not all clients connect again at the same time.
  const timeout = setTimeout(end, maxDuration * (0.5 + Math.random() / 2));
  return stream;

  async function readNext(): Promise<void> {
    isReading = true;
    release();
    release = () => {};
    try {
      const { value } = await pages.next();
      await check();
      const part = partOf(value);
      if (connection.signal.aborted) return;
      const counted = countPart(part);
      if (!counted) return end();
      release = counted;
      isReading = false;
      stream.push(part);
    } catch (error) {
      if (connection.signal.aborted) return;
      const last = errorEvent(error);
      if (last !== undefined) stream.push(last);
      end();
    }
  }

  function end(): void {
    connection.abort();
    stream.push(null);
  }
}
