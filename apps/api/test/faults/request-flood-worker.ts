import { parentPort, workerData } from 'node:worker_threads';
import { startRequestFlood } from './request-flood.ts';

// This flood runs in its own thread, so that the flood does not delay the measured clients.

const { url, connections, text }: { url: string; connections: number; text: string } = workerData;
let number = 0;
const flood = await startRequestFlood(url, connections, () => ({
  text: text.replace('NUMBER', String(++number).padStart(8, '0')),
}));
parentPort?.postMessage('started');
parentPort?.once('message', async () => {
  await flood.stop();
  parentPort?.postMessage(flood.outcomes);
});
