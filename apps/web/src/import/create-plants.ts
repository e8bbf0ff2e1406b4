import { type PlantStoreClient, plantStoreError } from '@plant-store/client';
import { type CreateResult, errorCatalogue, type NewPlant } from '@plant-store/schemas';
import { isTemporary, isTemporaryCode, isTokenError } from '../store/explain-error.ts';
import { background } from '../store/trpc.ts';

/** Milliseconds before plants are sent again when the server is away. */
const retryDelay = 1_000;

export type Client = Pick<PlantStoreClient, 'createPlants'>;

/** The way to the store. */
export interface Connection {
  /** A client with a token; waits for one after `onTokenError`. */
  client(): Promise<Client>;
  /** Tells that the store does not accept the token of a client. */
  onTokenError(client: Client, error: unknown): void;
  /** Tells that plants wait for the server or a token, or do so no longer. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Creates plants, and returns what became of each. Waits while the server is away, or its database, and
 * while there is no valid token: a create may be repeated.
 *
 * @throws the signal's reason when it aborts meanwhile, or an error that no attempt can avoid
 */
export async function createPlants(
  plants: readonly NewPlant[],
  connection: Connection,
  signal: AbortSignal,
): Promise<CreateResult[]> {
  const results = new Map<NewPlant, CreateResult>();
  let isWaiting = false;
  for (let rest = plants; rest.length > 0; ) {
    const client = await orAborted(connection.client(), signal);
    // The history of requests would keep all plants of an import.
    const sent = await client.createPlants
      .mutate({ plants: [...rest] }, background.trpc)
      .catch(asError);
    const reply =
      sent instanceof Error && isOfContent(sent)
        ? { results: await createParts(rest, sent, connection, signal) }
        : sent;
    const isAway = reply instanceof Error && isTemporary(reply);
    if (reply instanceof Error && isTokenError(reply)) connection.onTokenError(client, reply);
    else if (reply instanceof Error && !isAway) throw reply;
    for (const [i, plant] of rest.entries()) {
      const result = reply instanceof Error ? undefined : reply.results[i];
      const isFinal = result && !('error' in result && isTemporaryCode(result.error));
      if (isFinal) results.set(plant, result);
    }
    rest = rest.filter((plant) => !results.has(plant));
    if (isWaiting !== rest.length > 0) connection.onWaiting(!isWaiting);
    isWaiting = rest.length > 0;
    if (isWaiting) await orAborted(delay(retryDelay), signal);
  }
  return plants.flatMap((plant) => results.get(plant) ?? []);
}

/** Finds the plants because of which the store rejects a whole request. */
async function createParts(
  plants: readonly NewPlant[],
  error: Error,
  connection: Connection,
  signal: AbortSignal,
): Promise<CreateResult[]> {
  const [plant, ...others] = plants;
  if (plant && others.length === 0) {
    const { code } = errorCatalogue.invalidInput;
    return [{ id: plant.id, error: code, message: error.message }];
  }
  const half = plants.length / 2;
  const first = await createPlants(plants.slice(0, half), connection, signal);
  return [...first, ...(await createPlants(plants.slice(half), connection, signal))];
}

/** Whether the store rejects a request because of the plants in it. */
function isOfContent(error: Error): boolean {
  const kind = plantStoreError(error)?.kind;
  return kind === 'invalidInput' || kind === 'bodyTooLarge';
}

/** @throws what is no error */
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  throw thrown;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** @throws the signal's reason when it aborts before the promise settles */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
