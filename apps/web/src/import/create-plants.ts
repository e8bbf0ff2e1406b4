import { isRetryable, type PlantStoreClient, plantStoreError } from '@plant-store/client';
import { type CreateResult, errorCatalogue, type NewPlant } from '@plant-store/schemas';
import { isTokenError } from '../store/explain-error.ts';
import { background } from '../store/trpc.ts';

/** While the server is down, the import sends the plants again after this number of milliseconds. */
const retryDelay = 1_000;

export type Client = Pick<PlantStoreClient, 'createPlants'>;

/** The connection of an import to the store. */
export interface Connection {
  /** Returns a client with a token. After `onTokenError`, waits for a new token. */
  client(): Promise<Client>;
  /** Runs when the store rejects a token. Without this function, `createPlants` throws the error. */
  onTokenError?(client: Client, error: unknown): void;
  /** Runs when plants start to wait for the server or a token, and when the wait ends. */
  onWaiting?(isWaiting: boolean): void;
}

/**
 * Creates plants, and returns a result for each plant. Waits while the server or its database is down, and
 * while there is no valid token. Sending a plant twice does no harm.
 *
 * @throws the signal's reason when the signal aborts, or an error that would also stop a new attempt
 */
export async function createPlants(
  plants: readonly NewPlant[],
  connection: Connection,
  signal = new AbortController().signal,
): Promise<CreateResult[]> {
  const results = new Map<NewPlant, CreateResult>();
  let isWaiting = false;
  for (let rest = plants; rest.length > 0; ) {
    const client = await orAborted(connection.client(), signal);
    // `background` keeps the request, with all plants of an import, out of the history of requests.
    const { results: received } = await client.createPlants
      .mutate({ plants: [...rest] }, background.trpc)
      .catch(async (thrown: unknown) => {
        const error = plantStoreError(thrown);
        if (error?.kind === 'invalidInput' || error?.kind === 'bodyTooLarge')
          return { results: await createParts(rest, error.message, connection, signal) };
        if (connection.onTokenError && isTokenError(thrown))
          connection.onTokenError(client, thrown);
        else if (!isRetryable(thrown)) throw thrown;
        return { results: [] };
      });
    for (const [i, plant] of rest.entries()) {
      const result = received[i];
      if (result && !isRetryable(result)) results.set(plant, result);
    }
    rest = rest.filter((plant) => !results.has(plant));
    if (isWaiting !== rest.length > 0) connection.onWaiting?.(!isWaiting);
    isWaiting = rest.length > 0;
    if (isWaiting) await orAborted(delay(retryDelay), signal);
  }
  return plants.flatMap((plant) => results.get(plant) ?? []);
}

/** Sends each half of a rejected request separately, to find the plants that the store rejects. */
async function createParts(
  plants: readonly NewPlant[],
  message: string,
  connection: Connection,
  signal: AbortSignal,
): Promise<CreateResult[]> {
  const [plant, ...others] = plants;
  if (plant && others.length === 0) {
    const { code } = errorCatalogue.invalidInput;
    return [{ id: plant.id, result: 'error', error: code, message }];
  }
  const half = plants.length / 2;
  const first = await createPlants(plants.slice(0, half), connection, signal);
  return [...first, ...(await createPlants(plants.slice(half), connection, signal))];
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** @throws the signal's reason when the signal aborts before the promise settles */
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
