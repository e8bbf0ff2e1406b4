import { cp, mkdtemp, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Copies the program of an app to the same place in an empty directory. For the copied program, the directory
 * is the root of the repository, so a test can write files there. Returns the root and the program's path.
 */
export async function copyProgram(app: 'api' | 'cli'): Promise<{ root: string; main: string }> {
  const original = fileURLToPath(new URL(`../../../../apps/${app}/`, import.meta.url));
  const root = await realpath(await mkdtemp(join(tmpdir(), `plant-store-${app}-`)));
  const copy = join(root, 'apps', app);
  for (const name of ['src', 'package.json']) {
    await cp(join(original, name), join(copy, name), { recursive: true });
  }
  await symlink(join(original, 'node_modules'), join(copy, 'node_modules'), 'junction');
  return { root, main: join(copy, 'src', 'main.ts') };
}
