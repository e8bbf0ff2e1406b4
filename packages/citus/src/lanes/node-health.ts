import {
  deadlineIn,
  isDataError,
  isLateWrite,
  type PlantStatements,
} from '@plant-store/core/cluster';
import { call, insertNothing } from '../shards/node-functions.ts';
import type { NodeAccess } from './node-access.ts';

interface NodeHealthOptions {
  readonly access: Pick<NodeAccess, 'write' | 'directError'>;
  /** Called when writes to the node begin to fail, or succeed again. */
  readonly onChange: () => void;
  /** Called when creates begin (with an error) or cease (with undefined) to go through another node. */
  readonly onReroute: (error: unknown) => void;
}

/** The time limit of a probe, in milliseconds. */
const probeTimeout = 1_000;

/** After a failed insert, the store ignores successful probes for this many milliseconds. */
const insertCounts = 10_000;

/** Remembers whether the latest insert on a node succeeded, and whether inserts go through another node. */
export class NodeHealth {
  isWritable = true;
  #isRerouted = false;
  #failedAt = Number.NEGATIVE_INFINITY;
  readonly #options: NodeHealthOptions;

  constructor(options: NodeHealthOptions) {
    this.#options = options;
  }

  /** Wraps statements, so that each insert shows whether the node is writable. */
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
          if (!isWritable) this.#failedAt = performance.now();
          this.#set(isWritable);
          throw error;
        }
      },
    };
  }

  /** Calls the insert function without plants, on the node of `someId`. The promise is never rejected. */
  async probe(someId: bigint): Promise<void> {
    const { access } = this.#options;
    const options = { share: 'lookUps', deadline: deadlineIn(probeTimeout) } as const;
    try {
      await access.write(call.insert, (until) => insertNothing(someId, until), options);
    } catch {
      return this.#set(false);
    }
    // On a node whose disk is full, a probe succeeds but each insert fails.
    const hasFailedLately = performance.now() - this.#failedAt < insertCounts;
    this.#succeeded(this.isWritable || !hasFailedLately);
  }

  /** After a success, reports whether the route has changed. While the node is down, every route fails. */
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
