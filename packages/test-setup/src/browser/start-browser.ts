import { chromium } from 'playwright-core';
import { findBrowser } from './find-browser.ts';

export interface RunningBrowser {
  /** The address for `chromium.connect` of Playwright. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts a Chromium without a window. On Linux for x64, the Chromium comes from an npm package. */
export async function startBrowser(): Promise<RunningBrowser> {
  const { executablePath, env, remove } = await findBrowser();
  const browser = await chromium.launchServer({
    executablePath,
    env: { ...process.env, ...env },
    // Chromium's sandbox does not run as root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return {
    endpoint: browser.wsEndpoint(),
    async stop() {
      await browser.close();
      await remove();
    },
  };
}
