import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository, run } from './run.ts';

const resolutions = [
  { module: 'esnext', moduleResolution: 'bundler' },
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
];

/** Compiles programs with `strict`, once for each `moduleResolution`, and returns the errors. */
export async function typeErrors(
  project: string,
  files: string[],
  options: Record<string, unknown>,
): Promise<string[]> {
  const errors: string[] = [];
  for (const resolution of resolutions) {
    const compilerOptions = { strict: true, noEmit: true, ...resolution, ...options };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const output = await run(project, join(repository, 'node_modules/.bin/tsc'), []).catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    errors.push(...output.split('\n').filter((line) => line.includes('error TS')));
  }
  return errors;
}
