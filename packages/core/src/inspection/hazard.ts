/**
 * A state of the database that harms clients of the store, or may harm them. With the level `ok`, a trial has
 * found no such state.
 */
export interface Hazard {
  readonly check: 'durability' | 'tables' | 'indexes' | 'vacuum' | 'sessions' | 'writes';
  /** `problem` means that plants can be lost, or that requests fail all the time. */
  readonly level: 'problem' | 'warning' | 'ok';
  /** Describes the hazard and its remedy. */
  readonly message: string;
}

/** A query that finds one kind of hazard in a database. */
export interface Question extends Pick<Hazard, 'check' | 'level'> {
  /** Selects a row for each hazard. The row has the `name` of an object in SQL, and a `value`. */
  readonly select: string;
  readonly describe: (hazard: Found) => string;
}

/** A hazard that a question finds. */
export interface Found {
  readonly name: string;
  readonly value: string;
}
