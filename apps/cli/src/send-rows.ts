import { setTimeout } from 'node:timers/promises';
import { isRetryable, plantStoreError } from '@plant-store/client';
import type { Row } from '@plant-store/formats';
import { errorCatalogue } from '@plant-store/schemas';
import { CommandError } from './errors.ts';
import type { Address } from './store.ts';

/** A row with a valid plant. */
export type PlantRow = Extract<Row, { plant: object }>;

/** The outcome of a plant: the store has it, or the error says why the store rejects it. */
export interface Outcome {
  result?: 'created' | 'exists' | 'error';
  /** The error code in the catalogue. */
  error?: number;
  message?: string;
}

/** The outcome of each row, or an error for all rows. */
type Outcomes = Outcome & { results?: Outcome[] };

interface SendOptions {
  address: Address;
  signal: AbortSignal;
  onOutcome: (row: PlantRow, outcome: Outcome) => void;
  /** Receives the message of a temporary error before the rows are sent again. */
  onRetry: (message: string) => void;
}

/** The import ends when no row of a request gets an outcome for this number of milliseconds. */
const patience = 60_000;

/**
 * Creates the plants of some rows. Sends the rows without an outcome again after a temporary error, for
 * example while the server restarts.
 *
 * @throws CommandError when the store rejects the request, or stays down; and an error when `signal` aborts
 */
export async function sendRows(
  rows: readonly PlantRow[],
  { address, signal, onOutcome, onRetry }: SendOptions,
): Promise<void> {
  let giveUp = Date.now() + patience;
  for (let left = rows; left.length > 0; ) {
    const response = await send(address, left, signal);
    const again: PlantRow[] = [];
    let temporary: Outcome = {};
    for (const [at, row] of left.entries()) {
      const outcome = response.results?.[at] ?? response;
      if (!isRetryable(outcome)) {
        if (outcome === response) throw toCommandError(response);
        onOutcome(row, outcome);
        continue;
      }
      again.push(row);
      temporary = outcome;
    }
    if (again.length === 0) return;
    if (again.length < left.length) giveUp = Date.now() + patience;
    if (Date.now() > giveUp) throw toCommandError(temporary);
    left = again;
    onRetry(temporary.message ?? '');
    await setTimeout(500, undefined, { signal });
  }
}

const toCommandError = ({ error: code, message = '' }: Outcome) =>
  new CommandError(message, { code });

/**
 * Sends a request over REST. The typed client would use twice the CPU time, because superjson visits each value
 * of the request, and marks each id of the response.
 */
async function send(
  { url, token }: Address,
  rows: readonly PlantRow[],
  signal: AbortSignal,
): Promise<Outcomes> {
  const noResponse = (reason: string) => ({
    error: errorCatalogue.databaseUnavailable.code,
    message: `the plant store did not respond (${reason}): check its address and the network`,
  });
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
    const body: Outcomes = Object(await response.json().catch(() => {}));
    // A proxy may send a response of its own.
    const isOfStore = body.results || plantStoreError(body);
    return isOfStore ? body : noResponse(`status ${response.status}`);
  } catch (error) {
    signal.throwIfAborted();
    return noResponse(Object(Object(error).cause ?? error).message);
  }
}

/** Returns JSON with the exact id, faster than `formatJson` does. */
function jsonOf({ id, name, tag }: PlantRow['plant']): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}`;
}
