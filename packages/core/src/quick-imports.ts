import { registerHooks } from 'node:module';

/**
 * Makes a program start faster; what is imported before is not affected.
 *
 * Node parses a package's `package.json` again for each `.js` file that it imports from it. Drizzle's
 * has 180 kB, and 120 files: 0.4 s of every start. What its files import from each other is known to
 * be ES modules beside them, so nothing needs to be looked up.
 */
export function quickenImports(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context;
      const isWithinDrizzle = /^\.\.?\//.test(specifier) && withinDrizzle.test(parentURL);
      if (!isWithinDrizzle) return nextResolve(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    },
  });
}

const withinDrizzle = /\/node_modules\/drizzle-orm\/.*\.js$/;
