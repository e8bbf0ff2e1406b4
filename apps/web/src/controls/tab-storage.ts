/** Texts that the session storage does not accept. */
const unstored = new Map<string, string>();

/** Returns a text of this tab, or null. */
export function readText(key: string): string | null {
  return unstored.get(key) ?? storage()?.getItem(key) ?? null;
}

/**
 * Keeps a text until the tab closes. When the browser blocks the session storage, or the storage is full, the
 * page keeps the text until it reloads.
 */
export function keepText(key: string, text: string): void {
  forgetText(key);
  try {
    sessionStorage.setItem(key, text);
  } catch {
    unstored.set(key, text);
  }
}

export function forgetText(key: string): void {
  unstored.delete(key);
  storage()?.removeItem(key);
}

/** Without storage, browsers throw an error or return null. */
function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
