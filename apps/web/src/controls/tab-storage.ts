/** The texts that this page has kept. They outlive a reload only in the session storage. */
const texts = new Map<string, string>();

/** Returns a text of this tab, or null. */
export function readText(key: string): string | null {
  return texts.get(key) ?? inStorage((storage) => storage.getItem(key)) ?? null;
}

/**
 * Keeps a text until the tab closes. When the browser blocks the session storage, or the storage is full, the
 * page keeps the text until it reloads.
 */
export function keepText(key: string, text: string): void {
  forgetText(key);
  texts.set(key, text);
  inStorage((storage) => storage.setItem(key, text));
}

export function forgetText(key: string): void {
  texts.delete(key);
  inStorage((storage) => storage.removeItem(key));
}

/** Without storage, browsers throw an error or return null. */
function inStorage<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
