import { isRetryable, type PlantStoreClient, plantStoreError } from '@plant-store/client';
import {
  type CreateResult,
  errorCatalogue,
  errorKind,
  isTemporary,
  type NewPlant,
} from '@plant-store/schemas';
import { isTokenError } from '../store/explain-error.ts';
import { background } from '../store/trpc.ts';

/** When the server is down, plants are sent again after this number of milliseconds. */
const retryDelay = 1_000;

export type Client = Pick<PlantStoreClient, 'createPlants'>;

/** The connection of an import to the store. */
export interface Connection {
  /** Returns a client with a token. After `onTokenError`, waits for a new token. */
  client(): Promise<Client>;
  /** Is called when the store rejects the token of a client. */
  onTokenError(client: Client, error: unknown): void;
  /** Is called when plants begin or stop waiting for the server or a token. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Creates plants, and returns the result of each. Waits while the server or its database is down, and
 * while there is no valid token. A create can be repeated safely.
 *
 * @throws the signal's reason when the signal aborts, or an error that another attempt cannot avoid
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
    // Without `background`, the history of requests would keep all plants of an import.
    const sent = await client.createPlants
      .mutate({ plants: [...rest] }, background.trpc)
      .catch(asError);
    const response =
      sent instanceof Error && isOfContent(sent)
        ? { results: await createParts(rest, sent, connection, signal) }
        : sent;
    const isDown = response instanceof Error && isRetryable(response);
    if (response instanceof Error && isTokenError(response))
      connection.onTokenError(client, response);
    else if (response instanceof Error && !isDown) throw response;
    for (const [i, plant] of rest.entries()) {
      const result = response instanceof Error ? undefined : response.results[i];
      if (result && !mayPass(result)) results.set(plant, result);
    }
    rest = rest.filter((plant) => !results.has(plant));
    if (isWaiting !== rest.length > 0) connection.onWaiting(!isWaiting);
    isWaiting = rest.length > 0;
    if (isWaiting) await orAborted(delay(retryDelay), signal);
  }
  return plants.flatMap((plant) => results.get(plant) ?? []);
}

/** Finds the plants that make the store reject a whole request. Sends each half of the plants alone. */
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

/** Whether the same plant may be created a moment later. */
function mayPass(result: CreateResult): boolean {
  const kind = 'error' in result ? errorKind(result.error) : undefined;
  return kind !== undefined && isTemporary(kind);
}

/** Returns an error. @throws any other value */
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
