import { type PlantStoreClient, plantStoreError } from '@plant-store/client';

/** Deletes that are sent at the same time; the client puts ten into a request. */
const atOnce = 50;

interface DeletedPlants {
  readonly deleted: readonly bigint[];
  /** Plants that the store did not have. */
  readonly missing: readonly bigint[];
}

/**
 * Deletes plants, and reports after each group of them which ones are deleted.
 *
 * @throws the first error; the plants after it are not deleted
 */
export async function deletePlants(
  client: Pick<PlantStoreClient, 'deletePlant'>,
  ids: readonly bigint[],
  onGone: (gone: DeletedPlants) => void,
): Promise<void> {
  for (let start = 0; start < ids.length; start += atOnce) {
    const part = ids.slice(start, start + atOnce);
    const results = await Promise.all(
      part.map((id) =>
        client.deletePlant.mutate({ id }).then(
          () => ({ id, error: undefined }),
          (error: unknown) => ({ id, error }),
        ),
      ),
    );
    const isMissing = (error: unknown) => plantStoreError(error)?.kind === 'plantUnknown';
    onGone({
      deleted: results.filter(({ error }) => !error).map(({ id }) => id),
      missing: results.filter(({ error }) => isMissing(error)).map(({ id }) => id),
    });
    const failed = results.find(({ error }) => error && !isMissing(error));
    if (failed) throw failed.error;
  }
}
