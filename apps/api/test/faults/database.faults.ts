import { hasPosixSignals, startFaultProxy } from '@plant-store/test-setup';
import { describe, it } from 'vitest';
import { databaseFaults } from './fault-causes.ts';
import { startDatabase, startStoreUnderLoad } from './store-under-load.ts';

// The tests send signals to pause and stop processes. Windows has no signals.
describe.concurrent('the store loses no acknowledged plant during a fault of the database, and creates plants after the fault', () => {
  it.runIf(hasPosixSignals).for(databaseFaults)('%s', async ([, causeFault], context) => {
    const database = await startDatabase({ maxFileSize: 4 * 1024 }, context);
    const proxy = await startFaultProxy(database.url);
    context.onTestFinished(proxy.close);
    const store = await startStoreUnderLoad(proxy.url, context);
    await causeFault({ ...database, proxy, load: store.load });
    await store.load.acknowledged(100);
    await store.finish(database.url);
  });
});
