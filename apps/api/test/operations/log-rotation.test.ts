import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, isInstalled, withSbin } from '@plant-store/test-setup';
import { expect, inject, it, vi } from 'vitest';
import { startProgram, stopProgram, temporaryDirectory } from '../fixtures/program.ts';

it.runIf(isInstalled('logrotate'))(
  'logrotate rotates the log of a running server with the configuration in docs/observe.md',
  async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'plant-store.log');
    const page = await readFile(new URL('../../../../docs/observe.md', import.meta.url), 'utf8');
    const [recipe = ''] = /^\/var\/log\/plant-store\.log \{.*?^\}$/ms.exec(page) ?? [];
    const configuration = join(directory, 'logrotate.conf');
    await writeFile(configuration, recipe.replace('/var/log/plant-store.log', path));

    const DATABASE_URL = await createDatabase(inject('postgresUrl'));
    const server = startProgram({ DATABASE_URL }, `exec "$@" >> ${path}`);
    const log = () => readFile(path, 'utf8');
    const url = await vi.waitFor(async () => {
      const [, printed] = /REST +(http:\S+)\/plants/.exec(await log()) ?? [];
      return printed ?? expect.fail('the server does not serve yet');
    });
    const request = async (name: string) => {
      await fetch(`${url}/openapi.json`, { headers: { 'x-request-id': name } });
      await vi.waitFor(async () => expect(await log()).toContain(name));
    };
    await request('before-the-rotation');
    const args = ['--force', '--state', join(directory, 'state'), configuration];
    await promisify(execFile)('logrotate', args, { env: withSbin });
    server.child.kill('SIGHUP');
    await request('after-the-rotation');
    expect(await readFile(`${path}.1`, 'utf8')).toContain('before-the-rotation');
    expect(await log()).toMatch(/^\{"level":30,.*"reqId":"after-the-rotation".*\n$/);
    await stopProgram(server);
  },
);
