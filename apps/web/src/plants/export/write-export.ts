import { createPlantWriter, type FormatName } from '@plant-store/formats';
import { maxPageSize, type PlantPage } from '@plant-store/schemas';

/**
 * Writes plants as a file, page by page. The browser keeps the parts of a large file on its disk.
 *
 * @param list returns the page after an id
 * @param onCount tells how many plants are written
 */
export async function exportPlants(
  list: (after: bigint | undefined, limit: number) => Promise<PlantPage>,
  format: FormatName,
  onCount: (count: number) => void,
): Promise<Blob> {
  const { header, row } = createPlantWriter(format);
  const parts = [new Blob([header])];
  let count = 0;
  let after: bigint | undefined;
  do {
    const { plants, next } = await list(after, maxPageSize);
    parts.push(new Blob(plants.map(row)));
    count += plants.length;
    onCount(count);
    after = next;
  } while (after !== undefined);
  return new Blob(parts, { type: types[format] });
}

const types: Record<FormatName, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };
