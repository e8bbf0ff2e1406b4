/** The number of milliseconds until the console tries again to load the script later.ts. */
const retryDelay = 1_000;

/** Loads the script later.ts. Tries again until the server responds. */
export async function loadLater(): Promise<typeof import('./later.ts')> {
  for (;;) {
    try {
      return await import('./later.ts');
    } catch {
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}
