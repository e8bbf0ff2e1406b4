import {
  deadlineIn,
  isDataError,
  isLateWrite,
  type PlantStatements,
} from '@plant-store/core/cluster';
import { callAnywhere, insertNothing } from '../shards/node-functions.ts';
import type { NodeAccess } from './node-access.ts';

interface NodeHealthOptions {
  readonly access: Pick<NodeAccess, 'write' | 'directError'>;
  /** Is called when the node cannot be written any more, or can be written again. */
  readonly onChange: () => void;
  /**
   * Is called when creates begin to go through another node, with the error that is the cause. Is called
   * with undefined when creates go to the node itself again.
   */
  readonly onReroute: (error: unknown) => void;
  readonly now?: () => number;
}

/** Milliseconds that a probe may take. */
const probeTimeout = 1_000;

/** Milliseconds for which a failed insert counts more than a probe, which writes nothing. */
const insertCounts = 10_000;

/**
 * Remembers whether the latest insert on a node of a cluster succeeded, and whether the inserts go through
 * another node.
 */
export class NodeHealth {
  isWritable = true;
  #isRerouted = false;
  #failedAt = Number.NEGATIVE_INFINITY;
  readonly #options: Required<NodeHealthOptions>;

  constructor(options: NodeHealthOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Returns the same statements. Their inserts also show whether the node can be written. */
  observed(statements: PlantStatements): PlantStatements {
    return {
      ...statements,
      insert: async (...batch) => {
        try {
          const inserted = await statements.insert(...batch);
          this.#succeeded();
          return inserted;
        } catch (error) {
          const isWritable = isDataError(error) || isLateWrite(error);
          if (!isWritable) this.#failedAt = this.#options.now();
          this.#set(isWritable);
          throw error;
        }
      },
    };
  }

  /**
   * Inserts no plants, to find out whether the node can be written. The promise is never rejected.
   *
   * @param someId an id that the node stores
   */
  async probe(someId: bigint): Promise<void> {
    const { access, now } = this.#options;
    const options = { share: 'lookUps', deadline: deadlineIn(probeTimeout) } as const;
    try {
      await access.write(callAnywhere.insert, (until) => insertNothing(someId, until), options);
    } catch {
      return this.#set(false);
    }
    // On a node whose disk is full, a probe succeeds but each insert fails.
    const hasFailedLately = now() - this.#failedAt < insertCounts;
    this.#succeeded(this.isWritable || !hasFailedLately);
  }

  /**
   * Reports a changed way of the inserts only after a success: while the node is down, no way leads to it.
   */
  #succeeded(isWritable = true): void {
    this.#set(isWritable);
    const { directError } = this.#options.access;
    const isRerouted = directError !== undefined;
    if (this.#isRerouted === isRerouted) return;
    this.#isRerouted = isRerouted;
    this.#options.onReroute(directError);
  }

  #set(isWritable: boolean): void {
    if (this.isWritable === isWritable) return;
    this.isWritable = isWritable;
    this.#options.onChange();
  }
}
