/** Histories with consecutive seeds. Each history runs in a world, which is a group of processes. */
export interface Suite<World extends { stop(): Promise<void> }> {
  /** The number of concurrent histories. A history spends most of its time waiting for the end of a fault. */
  readonly concurrency: number;
  start(hasStandby: boolean): Promise<World>;
  /** Whether the history of a seed promotes a standby, and therefore needs its own world. */
  needsStandby(seed: number): boolean;
  run(world: World, seed: number): Promise<Outcome>;
}

interface Outcome {
  /** The lines about the history. */
  readonly report: string;
  readonly isGood: boolean;
  /** The number of calls and changes that the history has checked. */
  readonly calls?: number;
  readonly changes?: number;
}
