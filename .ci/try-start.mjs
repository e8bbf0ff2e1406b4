// Runs `npx -y pnpm start` as the README says, creates a plant and stops the server.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const isWindows = process.platform === 'win32';
const url = `http://127.0.0.1:${process.env.PORT || 3000}`;
const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };

// The server gets its own process group, because npx does not forward SIGTERM.
const start = spawn('npx -y pnpm start', {
  shell: true,
  detached: !isWindows,
  stdio: ['ignore', 'inherit', 'inherit'],
});
start.once('exit', (code) => {
  console.error(`npx -y pnpm start ended with exit code ${code}`);
  process.exit(1);
});

try {
  await waitUntilReady();
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync('.plant-store/token', 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ id: 1, ...plant }),
  });
  const text = await response.text();
  console.log(`POST /plants: ${response.status} ${text}`);
  process.exitCode = text === JSON.stringify(plant) ? 0 : 1;
} finally {
  start.removeAllListeners('exit');
  if (isWindows) execFileSync('taskkill', ['/pid', String(start.pid), '/t', '/f']);
  else process.kill(-start.pid, 'SIGTERM');
}

/** The first start installs the dependencies, which takes minutes on a slow network. */
async function waitUntilReady() {
  const deadline = Date.now() + 10 * 60_000;
  while (Date.now() < deadline) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await setTimeout(500);
  }
  throw new Error('the server was not ready within ten minutes');
}
