import type { RunText } from '../database/schema-version.ts';
import { sessionQuestions } from './session-questions.ts';
import { tableQuestions } from './table-questions.ts';

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

interface Found {
  readonly name: string;
  readonly value: string;
}

const questions = [...tableQuestions, ...sessionQuestions];

/** Asks a database all questions, in one statement. */
export async function readHazards(run: RunText): Promise<Hazard[]> {
  const rows = (await run(selectAll)) as (Found & { question: number })[]; // The statement selects these columns.
  return questions.flatMap(({ check, level, describe }, number) =>
    rows
      .filter(({ question }) => question === number)
      .map((row) => ({ check, level, message: describe(row) })),
  );
}

const selectAll = questions
  .map(({ select }, number) => `select ${number} as question, hazard.* from (${select}) as hazard`)
  .join(' union all ');
