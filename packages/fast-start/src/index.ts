import { enableCompileCache, registerHooks } from 'node:module';

/**
 * Makes a program start faster: `startFast(); await import('./program.ts')`. Modules that are already
 * imported are not affected.
 *
 * V8's compiled code is cached on disk. And relative imports within Drizzle are resolved here: Node
 * parses a package's `package.json` again for each of its `.js` files, and Drizzle has 120 of them and
 * a `package.json` of 180 kB. That took 0.4 s of every start. zod has its messages in 50 languages, a
 * module for each; our programs speak English, which zod imports by itself.
 */
export function startFast(): void {
  enableCompileCache();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context;
      if (specifier === '../locales/index.js' && zodFile.test(parentURL)) return emptyModule;
      const isWithinDrizzle = /^\.\.?\//.test(specifier) && drizzleFile.test(parentURL);
      if (!isWithinDrizzle) return nextResolve(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    },
  });
}

const emptyModule = { url: 'data:text/javascript,', format: 'module', shortCircuit: true };

const zodFile = /\/node_modules\/zod\/.*\.js$/;
const drizzleFile = /\/node_modules\/drizzle-orm\/.*\.js$/;
