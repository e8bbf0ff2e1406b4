import type { Contender } from '../contenders/contenders.ts';
import type { Conditions } from '../measurements/conditions.ts';
import type { Entry } from '../measurements/rounds.ts';

/** A contender with conditions that its name and title show. */
export function labelledEntry(contender: Contender, label: string, conditions: Conditions): Entry {
  const { name, title } = contender;
  return { ...contender, name: `${name}, ${label}`, title: `${title}, ${label}`, conditions };
}
