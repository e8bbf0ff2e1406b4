/** A database state that may harm the store's clients. `ok` means that a trial has found no harmful state. */
export interface Hazard {
  readonly check: 'durability' | 'tables' | 'indexes' | 'vacuum' | 'sessions' | 'writes';
  /** `problem` means that the database may lose plants, or that requests always fail. */
  readonly level: 'problem' | 'warning' | 'ok';
  /** Describes the hazard and its remedy. */
  readonly message: string;
}

/** A query that finds one kind of hazard in a database. */
export interface Question extends Pick<Hazard, 'check' | 'level'> {
  /** Selects a row for each hazard. In each row, `name` is the name of a database object in SQL. */
  readonly select: string;
  readonly describe: (hazard: Found) => string;
}

/** A hazard that a `Question` has found. */
export interface Found {
  readonly name: string;
  readonly value: string;
}
