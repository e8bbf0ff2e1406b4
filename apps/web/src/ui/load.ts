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
