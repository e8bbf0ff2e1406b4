import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const api = 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  // Relative addresses work under any path prefix.
  base: './',
  build: {
    assetsDir: 'console',
    // The content security policy allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      // Its package does not say that its modules have no side effects.
      treeshake: { moduleSideEffects: [{ test: /@trpc\/client/, sideEffects: false }] },
    },
  },
  // `pnpm dev` shows the console beside a server that runs.
  server: { proxy: { '/trpc': api, '/readyz': api, '/docs': api } },
});
