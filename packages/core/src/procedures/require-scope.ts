import { insufficientScope } from '../plant-store-error.ts';
import type { Context, ProcedureMeta } from './trpc.ts';

/**
 * Checks that the principal of a call has the scope that its procedure names. A procedure that names
 * no scope, not even `none`, cannot be called.
 *
 * @throws PlantStoreError `insufficientScope`
 */
export function requireScope(meta: unknown, context: object): void {
  const { scope } = (meta ?? {}) as Partial<ProcedureMeta>; // The router accepts no other meta.
  const { principal } = context as Context;
  if (!scope) throw new Error('the procedure names no scope');
  if (scope === 'none') return;
  if (!principal.scopes.includes(scope)) throw insufficientScope(scope);
}
