import type { PlantStoreClient, StoredPlant } from '@plant-store/client';
import type { ListPlants } from '@plant-store/schemas';
import { fitting, type ToolCall } from './tool-result.ts';

/** The greatest number of requests for one result. Each request searches a limited number of plants. */
const maxPages = 50;

/** Finds plants with several requests. To find further plants, the client sends `next` as `after`. */
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
