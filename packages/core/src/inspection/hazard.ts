/** A state of the database that harms clients of the store or may harm them, or a trial that found none. */
export interface Hazard {
  readonly check: 'durability' | 'tables' | 'indexes' | 'vacuum' | 'sessions' | 'writes';
  /** `problem`: plants can be lost, or requests fail all the time. */
  readonly level: 'problem' | 'warning' | 'ok';
  /** The hazard, and the remedy. */
  readonly message: string;
}

/** A question about a database: what in it harms clients in one way? */
export interface Question extends Pick<Hazard, 'check' | 'level'> {
  /** Selects a row for each hazard: its `name` in SQL, and a `value`. */
  readonly select: string;
  readonly describe: (hazard: Found) => string;
}

/** A hazard that a question finds. */
export interface Found {
  readonly name: string;
  readonly value: string;
}
