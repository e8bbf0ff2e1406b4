import { type PlantStoreClient, plantStoreError } from '@plant-store/client';

/** The page sends this number of deletes at the same time. The client puts ten deletes into one request. */
const atOnce = 50;

interface DeletedPlants {
  readonly deleted: readonly bigint[];
  /** Plants that the store did not have. */
  readonly missing: readonly bigint[];
}

/**
 * Deletes plants in groups, and reports the deleted plants after each group. After the signal aborts, no
 * further group is deleted.
 *
 * @throws the first error of a group. The plants of later groups are not deleted.
 */
export async function deletePlants(
  client: Pick<PlantStoreClient, 'deletePlant'>,
  ids: readonly bigint[],
  onGone: (gone: DeletedPlants) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (let start = 0; start < ids.length && !signal?.aborted; start += atOnce) {
    const part = ids.slice(start, start + atOnce);
    const results = await Promise.allSettled(part.map((id) => client.deletePlant.mutate({ id })));
    const errors = results.map((result): unknown => 'reason' in result && result.reason);
    const isMissing = (error: unknown) => plantStoreError(error)?.kind === 'plantUnknown';
    onGone({
      deleted: part.filter((_id, i) => !errors[i]),
      missing: part.filter((_id, i) => isMissing(errors[i])),
    });
    const failed = errors.find((error) => error && !isMissing(error));
    if (failed) throw failed;
  }
}
