import { expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';

it.each(['127.0.0.1', 'localhost'])(
  'on %s, prints the welcome directly before the log line of the first request',
  async (HOST) => {
    const server = await serve({ HOST, PLANT_STORE_METRICS_PORT: '0' });
    await fetch(`${server.url}/openapi.json`);
    await server.printed(/"path":"\/openapi.json"/);
    // The server has printed the log of its start, then the welcome, and then the log line of the request.
    expect(server.output()).toMatch(
      /^(\{.*"msg":"Server listening at .*\n)+\nThe plant store is open\.\n[^{]+\n {2}curl.* -d .*\n\n\{.*"path":"\/openapi.json".*\n$/,
    );
  },
);
