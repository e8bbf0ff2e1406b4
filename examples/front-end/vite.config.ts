import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page and the store have one origin here, as behind a proxy in production. */
const store = process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/trpc': store } },
});
