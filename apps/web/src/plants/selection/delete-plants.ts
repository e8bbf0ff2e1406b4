import { type PlantStoreClient, plantStoreError } from '@plant-store/client';

/** The number of deletes that are sent at the same time. The client puts ten deletes into one request. */
const atOnce = 50;

interface DeletedPlants {
  readonly deleted: readonly bigint[];
  /** Plants that the store did not have. */
  readonly missing: readonly bigint[];
}

/**
 * Deletes plants in groups. After each group, reports which plants are deleted.
 *
 * @throws the first error of a group. The plants of later groups are not deleted.
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
