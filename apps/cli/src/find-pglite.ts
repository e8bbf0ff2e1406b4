import { registerHooks } from 'node:module';

/**
 * Makes core find the PGlite of this package. npm installs global packages beside each other, each
 * with its own dependencies, so core would look for its optional peer in its own directory only.
 */
export function findPGlite(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier !== '@electric-sql/pglite') return nextResolve(specifier, context);
      return nextResolve(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}
