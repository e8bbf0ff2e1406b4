import { expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';

it.each(['127.0.0.1', 'localhost'])(
  'is the last thing that the server prints before the first request, on %s',
  async (HOST) => {
    const server = await serve({ HOST, PLANT_STORE_METRICS_PORT: '0' });
    await fetch(`${server.url}/livez`);
    await server.printed(/"path":"\/livez"/);
    // The log of the start, the welcome, and the line about the request.
    expect(server.output()).toMatch(
      /^(\{.*"msg":"Server listening at .*\n)+\nThe plant store is open\.\n[^{]+\n {2}curl.* -d .*\n\n\{.*"path":"\/livez".*\n$/,
    );
  },
);
