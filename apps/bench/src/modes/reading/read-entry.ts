import type { Contender } from '../../contenders/contenders.ts';
import type { ReadFormats } from '../../load/request-format.ts';
import type { Conditions } from '../../measurements/conditions.ts';
import type { Entry } from '../../measurements/rounds.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** An entry that reads stored plants; undefined for a contender that cannot read. */
export function readEntry(
  contender: Contender,
  { operation, label = operation, conditions, prepare }: ReadEntryOptions,
): Entry | undefined {
  const { server } = contender;
  if (!server?.reads) return undefined;
  const format = server.reads[operation];
  return {
    ...labelledEntry(contender, label, { ...conditions, order: 'stored' }),
    server: { ...server, format, storesPlants: false },
    prepare,
  };
}

interface ReadEntryOptions {
  readonly operation: keyof ReadFormats;
  readonly label?: string;
  readonly conditions: Conditions;
  readonly prepare: () => Promise<void>;
}
