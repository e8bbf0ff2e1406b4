/** On plain HTTP, browsers have no `navigator.clipboard`. The browser then copies a selected text. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  // While a dialog is open, the user can only select texts in the dialog.
  const focused = document.activeElement;
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}

/** Saves a file, as a download of the browser. */
export function saveFile(name: string, parts: BlobPart[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts));
  link.download = name;
  link.click();
  // The download reads the file after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Makes a file name from some texts and the date, such as `plants Araceae 2026-11-30.csv`. */
export function fileName(texts: readonly (string | undefined)[], extension: string): string {
  const parts = [...texts, new Date().toISOString().slice(0, 10)];
  const name = parts.filter(Boolean).join(' ').slice(0, 100).toWellFormed();
  return `${name.replaceAll(/[\p{Control}\p{Format}<>:"/\\|?*]/gu, '_')}.${extension}`;
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
