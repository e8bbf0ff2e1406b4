declare global {
  interface Window {
    /** Only Chromium has this function, and only on pages from HTTPS or localhost. */
    showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
  }
}

/**
 * Opens a file for writing. In Chromium, the user chooses the file, and each written text goes directly to
 * the disk. In other browsers, the download starts when the writer is closed.
 *
 * @param signal discards the file when the signal aborts.
 * @throws DOMException `AbortError` when the user cancels the file dialog
 */
export async function openSaveFile(name: string, signal: AbortSignal) {
  const handle = await window.showSaveFilePicker?.({ suggestedName: name });
  const file = (handle ? await handle.createWritable() : downloaded(name)).getWriter();
  signal.addEventListener('abort', () => file.abort(signal.reason).catch(() => {}));
  return file;
}

function downloaded(name: string): WritableStream<string> {
  const parts: Blob[] = []; // The browser keeps large blobs on the disk.
  return new WritableStream({
    write: (text) => void parts.push(new Blob([text])),
    close: () => saveFile(name, new Blob(parts)),
  });
}

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
