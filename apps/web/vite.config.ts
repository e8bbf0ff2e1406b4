import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv } from 'vite';

/** The directory of the file `.env`, which the server also reads. */
const repository = fileURLToPath(new URL('../..', import.meta.url));

export default defineConfig(({ mode }) => ({
  plugins: [react()],
  // Relative addresses work under any path prefix.
  base: './',
  build: {
    assetsDir: 'console',
    // The content security policy allows no inlined files.
    assetsInlineLimit: 0,
    // All scripts share one style sheet, so that no view appears without its style.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
  // `pnpm dev` serves the console, and sends the console's requests to the server at this port.
  server: {
    proxy: {
      '^/(trpc|readyz|docs)': `http://127.0.0.1:${loadEnv(mode, repository, 'PORT')['PORT'] ?? '3000'}`,
    },
  },
}));
