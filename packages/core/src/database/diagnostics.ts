import type { Caller } from './deadline.ts';

/** A statement that was sent to the database. */
export interface SentStatement {
  /** The text of the statement, without the values of its parameters. */
  readonly text: string;
  /** The callers that wait for the statement. Calls that wait at the same time share a statement. */
  readonly callers: readonly Caller[];
}

/** Is called when a statement is sent. The returned function is called when the statement has ended. */
export type StatementObserver = (sent: SentStatement) => ((error?: unknown) => void) | undefined;

/** The observers of all stores in this process. Without an observer, a statement costs nothing more. */
export const statementObservers = new Set<StatementObserver>();

/** Sends a statement, and tells the observers. */
export async function observeStatement<Result>(
  sent: SentStatement,
  send: () => Promise<Result>,
): Promise<Result> {
  const ends = [...statementObservers].map((observe) => observe(sent));
  try {
    const result = await send();
    for (const end of ends) end?.();
    return result;
  } catch (error) {
    for (const end of ends) end?.(error);
    throw error;
  }
}

/** Returns the first operation of a statement, and the table of this operation. */
export function describeStatement(text: string) {
  const matches = text.matchAll(/\b(insert into|delete from|update|from) "?(\w+)(\(?)/g);
  // A name before a parenthesis is a function.
  const [, words = 'select', table] = matches.find(([, , , parenthesis]) => !parenthesis) ?? [];
  const [first = ''] = words.split(' ');
  return { operation: first === 'from' ? 'SELECT' : first.toUpperCase(), table };
}
