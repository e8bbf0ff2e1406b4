import type { StoredPlant } from '@plant-store/schemas';

/** Copies a text. On plain HTTP, browsers have no `navigator.clipboard`, but can copy a selected text. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  // While a modal dialog is open, the browser selects only texts in the dialog.
  const focused = document.activeElement;
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}

/** Saves a file as a download. */
export function saveFile(name: string, parts: BlobPart[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts));
  link.download = name;
  link.click();
  // The browser reads the file only after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Collects plants for a file with the date in its name, and saves the file. */
export async function plantFile(format: 'csv' | 'ndjson') {
  const { plantWriter } = await load(() => import('@plant-store/formats'));
  const { start, rows } = plantWriter(format);
  // Each part is a blob, because a browser can keep large blobs on the disk.
  const parts = [new Blob([start])];
  const name = `plants ${new Date().toISOString().slice(0, 10)}.${format}`;
  return {
    add: (plants: readonly StoredPlant[]) => void parts.push(new Blob([rows(plants)])),
    save: () => saveFile(name, parts),
  };
}

/** Saves loaded plants as CSV. */
export async function savePlants(plants: readonly StoredPlant[]): Promise<void> {
  const file = await plantFile('csv');
  file.add(plants);
  file.save();
}

/** While the server does not respond, the console asks for a script again after this number of milliseconds. */
const retryDelay = 1_000;

/** Loads a script of the console that the list does not need. Tries again until the server responds. */
export async function load<Module>(start: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await start();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}
