import { chromium } from 'playwright-core';
import { findBrowser } from './find-browser.ts';

export type RunningBrowser = Awaited<ReturnType<typeof startBrowser>>;

/** Starts a Chromium without a window. On Linux for x64, the Chromium comes from an npm package. */
export async function startBrowser() {
  const { executablePath, env, remove } = await findBrowser();
  const browser = await chromium.launchServer({
    executablePath,
    env: { ...process.env, ...env },
    // Chromium's sandbox does not run as root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return {
    /** The address for `chromium.connect` of Playwright. */
    endpoint: browser.wsEndpoint(),
    async stop() {
      await browser.close();
      await remove();
    },
  };
}
