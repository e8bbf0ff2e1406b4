import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Makes core find the PGlite of this package. npm gives each global package its own dependencies, so core
 * would otherwise look for PGlite only in core's directory.
 *
 * Also makes V8 optimize only those functions of PGlite that run for a long time. In a short command, the
 * optimization of other functions would cost more CPU time than the optimization saves.
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
