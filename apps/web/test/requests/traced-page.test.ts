import { fileURLToPath } from 'node:url';
import {
  createDatabase,
  startOtlpReceiver,
  startProcess,
  statementsOf,
} from '@plant-store/test-setup';
import { build, type Rolldown } from 'vite';
import { expect, inject, it, onTestFinished } from 'vitest';
import { openPage } from '../fixtures/open-page.ts';

it('traces 16 parallel creates over REST and tRPC, from the spans of a browser to the SQL statements', async () => {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.stop);
  const token = 'token-of-the-tests';
  const server = startProcess({
    DATABASE_URL: await createDatabase(inject('postgresUrl')),
    PLANT_STORE_TOKEN: token,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  const page = await openPage(await server.listening(), {
    async prepare(tab) {
      const body = await bundle(new URL('../fixtures/traced-page.ts', import.meta.url));
      await tab.route('**/traced-page.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body }),
      );
      await tab.route('**/v1/traces', async (route) => {
        const response = await route.fetch({ url: `${receiver.url}/v1/traces` });
        await route.fulfill({ response });
      });
    },
  });
  await page.evaluate(
    `import('/traced-page.js').then((module) => module.createPlants('${token}'))`,
  );

  const named = (name: string) => receiver.spans().filter((span) => span.name === name);
  const created = () => [...named('POST /plants'), ...named('createPlant')];
  await expect.poll(() => created().length).toBe(32);
  const [whole] = named('add all');
  for (const { traceId, parentSpanId } of named('POST /trpc/*')) {
    expect([traceId, parentSpanId]).toEqual([whole?.traceId, whole?.spanId]);
  }
  const idsOf = ({ traceId, spanId }: { traceId: string; spanId?: string | undefined }) =>
    `${traceId}-${spanId}`;
  const requests = named('POST /plants').map(({ traceId, parentSpanId }) =>
    idsOf({ traceId, spanId: parentSpanId }),
  );
  expect(requests.sort()).toEqual(named('add one').map(idsOf).sort());
  for (const call of created()) expect(statementsOf(call, receiver.spans())).toHaveLength(1);
  // While the first statement runs, the other requests wait, and then share one statement.
  expect(named('INSERT plants').some(({ links }) => links.length > 1)).toBe(true);
});

async function bundle(module: URL): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      lib: { entry: fileURLToPath(module), formats: ['es'] },
    },
  });
  const [{ output: chunks } = expect.fail()] = output as Rolldown.RolldownOutput[]; // One output per format.
  return chunks[0].code;
}
