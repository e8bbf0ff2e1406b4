import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Vite forwards requests to the store, so the page and the store have the same origin, as in production. */
const store = process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/trpc': store } },
});
