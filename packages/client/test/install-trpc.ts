import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Returns the directory for a version of tRPC. This directory is outside the workspace. */
export function directoryOf(version: string): string {
  return join(tmpdir(), `plant-store-trpc-${process.pid}-${version}`);
}

/** Installs a version of tRPC. The name of the test project is the version. */
export default function installTrpc({ name: version }: TestProject): () => void {
  const directory = directoryOf(version);
  mkdirSync(directory, { recursive: true });
  const options = ['--prefix', directory, '--no-audit', '--no-fund', '--prefer-offline'];
  const packages = [`@trpc/client@${version}`, `@trpc/server@${version}`];
  execFileSync('npm', ['install', ...options, ...packages], {
    stdio: 'ignore',
    shell: process.platform === 'win32',
  });
  return () => rmSync(directory, { recursive: true, force: true });
}
