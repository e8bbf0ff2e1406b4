import type { PlantStore } from '@plant-store/core';

/**
 * Milliseconds between two reads. Without them, an idle instance would not notice that the database is
 * down.
 */
const interval = 15_000;

/** The state of the database at the last read. */
export interface DatabaseState {
  /** Whether the database responds, and has the tables. */
  readonly isUp: boolean;
}

/** Reads the state of the database now and at each interval, for the metrics. */
export function watchDatabase(store: PlantStore): DatabaseState {
  const state = { isUp: false };
  const read = async () => {
    state.isUp = await store.ready().then(
      () => true,
      () => false,
    );
  };
  void read();
  setInterval(read, interval).unref();
  return state;
}
