import type { PlantStoreClient, StoredPlant } from '@plant-store/client';
import type { ListPlants } from '@plant-store/schemas';
import { fitting, type ToolCall } from './tool-result.ts';

/**
 * The function reads at most this number of pages for one result. A page may have no plants, because the
 * store searches only a limited number of plants for each page.
 */
const maxPages = 50;

/** Reads pages until a result has enough plants. To get more plants, the client sends `next` as `after`. */
export async function findPlants(
  client: PlantStoreClient,
  { after, limit, ...condition }: ListPlants,
  { signal, notify, _meta }: ToolCall,
): Promise<{ plants: readonly StoredPlant[]; next?: bigint | undefined }> {
  const found: StoredPlant[] = [];
  let next = after;
  for (let pages = 1; pages <= maxPages; pages++) {
    const query = { ...condition, after: next, limit: limit - found.length };
    const page = await client.listPlants.query(query, { signal });
    found.push(...page.plants);
    next = page.next;
    if (next === undefined || found.length === limit) break;
    if (_meta?.progressToken === undefined) continue;
    const params = { progressToken: _meta.progressToken, progress: pages };
    await notify({ method: 'notifications/progress', params });
  }
  const plants = fitting(found);
  return { plants, next: plants.length < found.length ? plants.at(-1)?.id : next };
}
