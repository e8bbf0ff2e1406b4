import { type Call, type CallOperation, contentOf, isUnknown } from './history.ts';
import type { HistoryResult } from './run-history.ts';
import type { DatabaseName, Schedule } from './schedule.ts';

const letters = 'AB';

/** Returns one line about a history, and the operations of each unexplained id. */
export function reportOf(
  database: DatabaseName,
  seed: number,
  { clients }: Schedule,
  { calls, faults, unexpected, unexplained }: HistoryResult,
): string {
  const faultTexts = faults.map(
    ({ name, instance, start, end }) =>
      `${name} ${letters[instance]} ${seconds(start)}–${seconds(end)}`,
  );
  const head = `${database} seed ${seed}: ${clients} clients, ${calls} calls; ${faultTexts.join(', ')}`;
  const unexpectedLines = unexpected.map((call) => `  unexpected: ${lineOf(call)}`);
  const unexplainedLines = unexplained.flatMap(({ id, operations }) => [
    `  No order explains the responses about the id ${id}:`,
    ...linesOf(operations),
  ]);
  return [head, ...unexpectedLines, ...unexplainedLines].join('\n');
}

function linesOf(operations: readonly CallOperation[]): string[] {
  const sorted = operations.toSorted((a, b) => a.start - b.start);
  return sorted.map((operation) => `    ${lineOf(operation.call, operation)}`);
}

function lineOf(call: Call, operation?: CallOperation): string {
  const { client, instance, surface, start, end } = call;
  const times = `${seconds(start).padStart(6)} – ${seconds(end).padStart(6)} s`;
  const by = `client ${client} at ${instance} over ${surface}`.padEnd(26);
  return `${times}  ${by}  ${requestOf(call).padEnd(28)} → ${responseOf(call, operation)}`;
}

function requestOf({ request }: Call): string {
  const { procedure, input } = request;
  if (procedure === 'createPlant') return `create ${input.id} ${contentOf(input)}`;
  if (procedure === 'listPlants') return `list ${input.limit} after ${input.after}`;
  return `${procedure === 'getPlant' ? 'get' : 'delete'} ${input.id}`;
}

function responseOf(call: Call, operation: CallOperation | undefined): string {
  const { status, error = status } = call.outcome ?? {};
  const response = error === undefined ? 'no response' : String(error);
  if (isUnknown(call))
    return `${response}, without effect or until ${seconds(operation?.end ?? 0)} s`;
  if (operation?.action.type !== 'read') return response;
  return `${response} ${operation.action.state ?? 'without the plant'}`;
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(2);
