import { hasPosixSignals } from '@plant-store/test-setup';
import { it } from 'vitest';
import { startDatabase } from './store-under-load.ts';
import { expectCopyAfterFaults, seed } from './webhook-faults.ts';

it.runIf(hasPosixSignals)(
  `an endpoint that fails half of its requests has the plants of the table after kills of the instances and of the database (seed ${seed})`,
  { timeout: 5 * 60_000 },
  async () => {
    const { server, url, admin } = await startDatabase();
    const restart = () => server.halt().then(server.start);
    await expectCopyAfterFaults({ urls: [url, url], admin, restart });
  },
);
