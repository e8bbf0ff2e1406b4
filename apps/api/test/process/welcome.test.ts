import { createDatabase, startProcess } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';

it.each(['127.0.0.1', 'localhost'])(
  'is the last thing that the server prints before the first request, on %s',
  async (HOST) => {
    const server = startProcess({
      HOST,
      DATABASE_URL: await createDatabase(inject('postgresUrl')),
      PLANT_STORE_TOKEN: 'secret-of-the-tests',
      PLANT_STORE_METRICS_PORT: '0',
    });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
    await fetch(`${url}/livez`);
    await server.printed(/"path":"\/livez"/);
    // The log of the start, the welcome, and the line about the request.
    expect(server.output()).toMatch(
      /^(\{.*"msg":"Server listening at .*\n)+\nThe plant store is open\.\n[^{]+\n {2}curl.* -d .*\n\n\{.*"path":"\/livez".*\n$/,
    );
  },
);
