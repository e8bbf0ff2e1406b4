import type { DatabaseConnection } from '../database.ts';
import { beforeDeadline, type Deadline, deadlineIn, withTimeout } from '../deadline.ts';
import type { Connections } from './connections.ts';

/** Milliseconds after a cancel until the store asks whether the statement is committing. */
const cancelTimeout = 500;

/** The time limit of the question whether a statement is committing, in milliseconds. */
const askTimeout = 3_000;

/**
 * Ends the statements that are still running at their deadlines. The store does not close a connection that
 * is committing. Nobody can cancel a commit, and a commit on another connection would wait for the same disk.
 */
export class LateStatements<Connection extends DatabaseConnection> {
  readonly #connections: Connections<Connection>;
  readonly #onUnsettled: () => void;
  readonly #unsettled = new Set<Connection>();

  /** @param onUnsettled is called when a write is still committing a second after the write's deadline. */
  constructor(connections: Connections<Connection>, onUnsettled = () => {}) {
    this.#connections = connections;
    this.#onUnsettled = onUnsettled;
  }

  /** The number of writes that are still committing after their callers got an error. */
  get unsettled(): number {
    return this.#unsettled.size;
  }

  /**
   * Cancels a statement. The statement's caller waits for the outcome until `until`. If the statement ends
   * with an error, resolves with the error. If the statement does not end, resolves with `silent`.
   */
  async end(
    connection: Connection,
    running: Promise<unknown>,
    { until, isWrite }: { until: Deadline; isWrite: boolean },
  ): Promise<{ error?: unknown } | 'silent'> {
    const ended = connection
      .cancel()
      .then(() => running)
      .then(
        () => ({}),
        (error: unknown) => ({ error }),
      );
    for (let commits = 0; ; ) {
      const end = await withTimeout(ended, cancelTimeout).catch(() => undefined);
      const isCommitting = end ? false : await this.isCommitting(connection);
      if (isCommitting && isWrite) {
        this.#unsettled.add(connection);
        // The second check is at least a second after the deadline of the write.
        if (++commits === 2) this.#onUnsettled();
      }
      if (isCommitting ?? performance.now() < until) continue;
      this.#unsettled.delete(connection);
      return end ?? 'silent';
    }
  }

  /** Whether the statement on this connection is committing. Undefined when the state is unknown. */
  async isCommitting(connection: Connection): Promise<boolean | undefined> {
    const deadline = deadlineIn(askTimeout);
    let other: Connection | undefined;
    try {
      // The question needs an extra connection, because all connections for statements may be busy.
      other = await this.#connections.take(deadline, 1);
      return await beforeDeadline(connection.isCommitting(other), deadline);
    } catch {
      if (other) this.#connections.drop(other);
      return undefined;
    } finally {
      if (other) this.#connections.give(other);
    }
  }
}
