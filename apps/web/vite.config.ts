import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv, type Plugin } from 'vite';

/** The directory of the file `.env`, which the server also reads. */
const repository = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Leaves out the code that converts zod schemas to JSON Schema (https://zod.dev/json-schema). The console
 * never converts schemas, but every schema refers to the code that converts schemas.
 */
const withoutJsonSchemas: Plugin = {
  name: 'without-json-schemas',
  transform(code, id) {
    if (!/zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/.test(id)) return null;
    const exported = code.matchAll(/^export (?:const|function) (\w+)/gm);
    return Array.from(exported, ([, name]) => `export const ${name} = () => undefined;`).join('\n');
  },
};

export default defineConfig(({ mode }) => ({
  plugins: [react(), withoutJsonSchemas],
  // Relative addresses work under any path prefix.
  base: './',
  build: {
    assetsDir: 'console',
    // The content security policy allows no inlined files.
    assetsInlineLimit: 0,
    // Both scripts share one style sheet, so that no view appears without its style.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      // @trpc/client does not declare `sideEffects: false`, so its unused modules would stay in the bundle.
      treeshake: { moduleSideEffects: [{ test: /@trpc\/client/, sideEffects: false }] },
    },
  },
  server: { proxy: proxyTo(loadEnv(mode, repository, 'PORT')['PORT'] ?? '3000') },
}));

/** `pnpm dev` serves the console, and sends the console's requests to the server at this port. */
function proxyTo(port: string) {
  const paths = ['/trpc', '/console/sign-in', '/readyz', '/docs'];
  return Object.fromEntries(paths.map((path) => [path, `http://127.0.0.1:${port}`]));
}
