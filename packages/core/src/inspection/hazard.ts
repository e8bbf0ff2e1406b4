/** What harms clients of the store, or may harm them; or that a trial found nothing. */
export interface Hazard {
  readonly check: 'durability' | 'tables' | 'indexes' | 'vacuum' | 'sessions' | 'writes';
  /** `problem`: plants can be lost, or requests fail all the time. */
  readonly level: 'problem' | 'warning' | 'ok';
  /** What it is, and what to do about it. */
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
