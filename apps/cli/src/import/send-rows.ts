import { setTimeout } from 'node:timers/promises';
import type { Row } from '@plant-store/formats';
import { errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { CommandError } from '../errors.ts';
import type { Address } from '../store.ts';

/** A row with a valid plant. */
export type PlantRow = Extract<Row, { plant: object }>;

/** The outcome of a plant: the store has it, or the error says why the store rejects it. */
export interface Outcome {
  result: 'created' | 'exists' | 'error';
  /** The error code in the catalogue. */
  error?: number | undefined;
  message?: string | undefined;
}

interface CreateOptions {
  address: Address;
  signal: AbortSignal;
  onOutcome: (row: PlantRow, outcome: Outcome) => void;
  /** Receives the message of a temporary error before the rows without an outcome are sent again. */
  onRetry: (message: string) => void;
}

/** The import ends when no row of a request gets an outcome for this number of milliseconds. */
const patience = 60_000;

/**
 * Creates the plants of some rows. Sends the rows without an outcome again after a temporary error, for
 * example while the server restarts.
 *
 * @throws CommandError when the store rejects the request, or stays down
 */
export async function sendRows(
  rows: readonly PlantRow[],
  { address, signal, onOutcome, onRetry }: CreateOptions,
): Promise<void> {
  let left = rows;
  for (let giveUp = Date.now() + patience; left.length > 0; ) {
    const outcomes = await send(address, left, signal);
    const again = left.filter((row, at) => {
      const outcome = outcomes[at];
      if (isTemporaryError(outcome)) return true;
      if (outcome) onOutcome(row, outcome);
      return false;
    });
    const error = outcomes.find(isTemporaryError);
    if (!error) return;
    if (again.length < left.length) giveUp = Date.now() + patience;
    if (Date.now() > giveUp) throw toCommandError(error);
    left = again;
    onRetry(error.message ?? '');
    await setTimeout(500, undefined, { signal });
  }
}

/**
 * Sends a request over REST, and returns an outcome for each row. The typed client would use twice the CPU
 * time, because superjson visits each value of the request, and marks each id of the response.
 */
async function send(
  { url, token }: Address,
  rows: readonly PlantRow[],
  signal: AbortSignal,
): Promise<Outcome[]> {
  const noResponse = (reason: string) => {
    const message = `the plant store did not respond (${reason}): check its address and the network`;
    const error = errorCatalogue.databaseUnavailable.code;
    return rows.map((): Outcome => ({ result: 'error', error, message }));
  };
  try {
    const response = await fetch(`${url}/plants/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        // The results are short, so their compression would cost more time than it saves.
        'accept-encoding': 'identity',
      },
      body: `{"plants":[${rows.map(({ plant }) => jsonOf(plant)).join()}]}`,
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    });
    const text = await response.text();
    // A proxy may send an error of its own.
    if (!text.startsWith('{')) return noResponse(`status ${response.status}`);
    const body: Outcome & { results?: Outcome[] } = JSON.parse(text);
    if (body.results) return body.results;
    const isOfStore = errorKind(body.error) !== undefined;
    if (!isOfStore && response.status >= 500) return noResponse(`status ${response.status}`);
    const outcome = { ...body, result: 'error' } as const;
    // A batch is smaller than the largest request, unless it is a single row.
    const isTooLarge = outcome.error === errorCatalogue.bodyTooLarge.code && rows.length === 1;
    if (isTooLarge || isTemporaryError(outcome)) return rows.map(() => outcome);
    throw toCommandError({ message: `it responded with status ${response.status}`, ...outcome });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommandError) throw error;
    return noResponse(Object(Object(error).cause ?? error).message);
  }
}

/** JSON with the exact id, faster than `formatJson`. */
function jsonOf({ id, name, tag }: PlantRow['plant']): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}`;
}

function isTemporaryError(outcome: Outcome | undefined): boolean {
  if (outcome?.error === undefined) return false;
  const kind = errorKind(outcome.error);
  return kind !== undefined && isTemporary(kind);
}

function toCommandError({ error, message = '' }: Outcome): CommandError {
  return new CommandError(message, error === undefined ? {} : { code: error });
}
