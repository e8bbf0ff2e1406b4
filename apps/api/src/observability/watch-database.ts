import type { PlantStore } from '@plant-store/core';

/** Milliseconds. Without reads, an idle instance would not notice that the database is down. */
const interval = 15_000;

/** Asks at each interval whether the database is up. Returns a function that returns the last result. */
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
