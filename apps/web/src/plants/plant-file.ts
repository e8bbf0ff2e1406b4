import type { Format } from '@plant-store/formats';
import type { StoredPlant } from '@plant-store/schemas';
import { fileName, load, saveFile } from '../ui/browser.ts';

/** Collects plants for a file, and saves the file. A spreadsheet and the import both read the CSV. */
export async function plantFile(format: Format = 'csv', names: (string | undefined)[] = []) {
  const { plantWriter } = await load(() => import('@plant-store/formats'));
  const { start, rows } = plantWriter(format, { spreadsheet: format === 'csv' });
  // The browser keeps large blobs on the disk.
  const parts = [new Blob([start])];
  return {
    add: (plants: readonly StoredPlant[]) => void parts.push(new Blob([rows(plants)])),
    save: () => saveFile(fileName(['plants', ...names], format), parts),
  };
}

/** Saves plants that are already loaded. */
export async function savePlants(plants: readonly StoredPlant[]): Promise<void> {
  const file = await plantFile();
  file.add(plants);
  file.save();
}
