import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Makes core find the PGlite of this package. npm installs global packages beside each other, each
 * with its own dependencies, so core would look for its optional peer in its own directory only.
 *
 * V8 optimizes only those functions of PGlite that run for long. By default it optimizes so many that
 * a short command needs twice as much CPU time.
 */
export function findPGlite(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier !== '@electric-sql/pglite') return nextResolve(specifier, context);
      return nextResolve(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}
