import type { Contender } from '../contenders.ts';
import type { Conditions } from '../measure.ts';
import type { Entry } from '../rounds.ts';

/** A contender under conditions that its title tells. */
export function entry(contender: Contender, label: string, conditions: Conditions): Entry {
  const { name, title } = contender;
  return { ...contender, name: `${name}, ${label}`, title: `${title}, ${label}`, conditions };
}
