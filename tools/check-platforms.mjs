/**
 * Checks that pnpm-lock.yaml has each native package for macOS, Linux on ARM and Windows. If the registry
 * lacks such a package, pnpm leaves the package out of the lock file.
 */
import { readFileSync } from 'node:fs';

// trpc-to-openapi does not use its package of rollup. The registry has no package of Node for macOS.
const exceptions = [
  '@rollup/rollup-darwin',
  '@rollup/rollup-linux',
  '@rollup/rollup-win',
  'node-darwin',
];
const platforms = ['darwin-arm64', 'linux-arm64', 'win(32|dows)?-(x64|64)'];

const lock = readFileSync(new URL('../pnpm-lock.yaml', import.meta.url), 'utf8');
for (const [, prefix] of lock.matchAll(/^ {2}'?(\S+?)linux-(?:x64|64)(?:-gnu)?@\S+:$/gm)) {
  for (const platform of platforms) {
    const isLocked = new RegExp(`^ {2}'?${prefix}${platform}`, 'm').test(lock);
    if (isLocked || exceptions.some((name) => `${prefix}${platform}`.startsWith(name))) continue;
    console.error(`pnpm-lock.yaml has ${prefix}linux-x64 but no ${prefix}${platform}`);
    process.exitCode = 1;
  }
}
