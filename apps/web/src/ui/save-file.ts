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
