import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { hasConsole } from '../../src/pages/serve-console.ts';

const module = new URL('../../src/pages/build-console.ts', import.meta.url);

it('builds the console when PATH has no pnpm', async () => {
  const { PATH = '', ...variables } = process.env; // The variable `npm_execpath` has the path of pnpm.
  const folders = PATH.split(delimiter).filter((folder) => !existsSync(join(folder, 'pnpm')));
  const env = { ...variables, PATH: folders.join(delimiter) };
  const program = `const { buildConsole } = await import('${module}'); await buildConsole();`;
  const options = ['--input-type=module', '--eval', program, '--', '--build-console'];
  const { stderr } = await promisify(execFile)(process.execPath, options, { env });
  expect(stderr).toBe('');
  expect(hasConsole()).toBe(true);
});
