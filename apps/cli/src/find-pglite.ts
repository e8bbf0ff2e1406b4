import { registerHooks } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Makes core find the PGlite of this package. Otherwise core would look only in its own directory, when npm
 * has installed core globally. Also makes V8 optimize only functions of PGlite that run for a long time:
 * in a short command, the optimization of other functions would cost more CPU time than it saves.
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
