import type { PlantStore } from '@plant-store/core';

/** The milliseconds between two checks, because an idle instance makes no other reads. */
const interval = 15_000;

/** Reads the state of the webhooks at intervals. The returned function gives the caller the last state. */
export function watchWebhooks(store: PlantStore): () => { lag: number; failing: number } {
  let state = { lag: 0, failing: 0 };
  const read = async () => {
    state = await store.webhooks.state().catch(() => state);
  };
  void read();
  setInterval(read, interval).unref();
  return () => state;
}

/** Checks at intervals whether the database is up. The returned function gives the caller the last result. */
export function watchDatabase(store: PlantStore): () => boolean {
  let isUp = false;
  const read = async () => {
    isUp = await store.ready().then(
      () => true,
      () => false,
    );
  };
  void read();
  setInterval(read, interval).unref();
  return () => isUp;
}
