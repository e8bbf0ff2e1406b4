import { randomInt, randomUUID } from 'node:crypto';
import { openPlantStore } from '@plant-store/core';

// This instance creates and deletes random plants until SIGUSR2, and sends the changes to the webhook. The
// instance retries without a long delay. The instance runs until the test kills the process.
const [databaseUrl = ''] = process.argv.slice(2);
let isWriting = true;
process.on('SIGUSR2', () => {
  isWriting = false;
});
const webhooks = { allow: ['127.0.0.1'], retryDelays: Array.from({ length: 1_000 }, () => 0.02) };
const store = await openPlantStore({ databaseUrl }, { webhooks });
store.webhooks.send();
process.stdout.write('ready\n');

async function write(): Promise<void> {
  while (isWriting) {
    const id = BigInt(randomInt(300));
    // A create or a delete may fail while the database is down.
    if (randomInt(3) === 0) await store.delete(id).catch(() => {});
    else await store.create({ id, name: randomUUID() }).catch(() => {});
  }
}

await Promise.all(Array.from({ length: 4 }, write));
setInterval(() => {}, 1_000);
