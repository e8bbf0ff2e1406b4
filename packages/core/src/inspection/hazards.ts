import { type Query, send } from '../database/query.ts';
import type { Found, Hazard } from './hazard.ts';
import { sessionQuestions } from './session-questions.ts';
import { tableQuestions } from './table-questions.ts';

const questions = [...tableQuestions, ...sessionQuestions];

/** Looks for all harmful states of a database in one statement. */
export async function readHazards(query: Query): Promise<Hazard[]> {
  const rows = await send<Found & { question: number }>(query, selectAll);
  return questions.flatMap(({ check, level, describe }, number) =>
    rows
      .filter(({ question }) => question === number)
      .map((row) => ({ check, level, message: describe(row) })),
  );
}

const selectAll = questions
  .map(({ select }, number) => `select ${number} as question, hazard.* from (${select}) as hazard`)
  .join(' union all ');
