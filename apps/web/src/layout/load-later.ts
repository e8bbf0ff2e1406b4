/** The number of milliseconds before the page tries again to load the script. */
const retryDelay = 1_000;

/** Loads the parts of the console that the list does not need. While the server is down, tries again. */
export async function loadLater(): Promise<typeof import('./later.ts')> {
  for (;;) {
    try {
      return await import('./later.ts');
    } catch {
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}
