import { isDataError, isLateWrite } from '../database/database-error.ts';
import { deadlineIn } from '../database/deadline.ts';
import type { PlantStatements } from '../plants/statements.ts';
import type { NodeAccess } from './node-access.ts';
import { callAnywhere, insertNothing } from './node-functions.ts';

/** A node of a cluster, and whether its plants can be written. */
export interface NodeState {
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  /** The part of all ids that it stores, from 0 to 1. */
  readonly share: number;
  readonly isWritable: boolean;
}

/** Whether creates of a node of a cluster take a detour through the node that the URL names. */
export interface NodeDetour {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  /** Why this process cannot reach the node itself; undefined when it can again. */
  readonly error: unknown;
}

interface NodeHealthOptions {
  readonly access: Pick<NodeAccess, 'run' | 'directError'>;
  /** Is called when the node cannot be written any more, or can be written again. */
  readonly onChange: () => void;
  /** Is called when creates begin or stop to take a detour. The error is its cause. */
  readonly onDetour: (error: unknown) => void;
  readonly now?: () => number;
}

/** Milliseconds for the answer to a probe. */
const probeTimeout = 1_000;

/** Milliseconds for which a failed insert counts more than a probe, which writes nothing. */
const insertCounts = 10_000;

/**
 * Remembers whether a node of a cluster can be written, by the latest insert on it, and whether only
 * through another node.
 */
export class NodeHealth {
  isWritable = true;
  #isDetour = false;
  #failedAt = Number.NEGATIVE_INFINITY;
  readonly #options: Required<NodeHealthOptions>;

  constructor(options: NodeHealthOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** The same statements; each insert shows whether the node can be written. */
  observed(statements: PlantStatements): PlantStatements {
    return {
      ...statements,
      insert: async (batch, deadline) => {
        try {
          const inserted = await statements.insert(batch, deadline);
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
   * Finds out whether the node can be written: inserts no plant there. The promise is never rejected.
   *
   * @param someId an id that the node stores
   */
  async probe(someId: bigint): Promise<void> {
    const { access, now } = this.#options;
    const options = { share: 'lookUps', deadline: deadlineIn(probeTimeout) } as const;
    try {
      await access.run(callAnywhere.insert, (until) => insertNothing(someId, until), options);
    } catch {
      return this.#set(false);
    }
    // A node whose disk is full answers a probe, but refuses each insert.
    const hasFailedLately = now() - this.#failedAt < insertCounts;
    this.#succeeded(this.isWritable || !hasFailedLately);
  }

  /** Only a success shows a detour: while the node is away, nobody reaches it. */
  #succeeded(isWritable = true): void {
    this.#set(isWritable);
    const { directError } = this.#options.access;
    const isDetour = directError !== undefined;
    if (this.#isDetour === isDetour) return;
    this.#isDetour = isDetour;
    this.#options.onDetour(directError);
  }

  #set(isWritable: boolean): void {
    if (this.isWritable === isWritable) return;
    this.isWritable = isWritable;
    this.#options.onChange();
  }
}
