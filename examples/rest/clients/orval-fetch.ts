import { exactFetch } from '@plant-store/schemas';

/** The address of the store, and an access token. */
export const connection = { url: '', token: '' };

const send = exactFetch(fetch);

/** Sends each request of the client that orval generated. The option `mutator` names this function. */
export async function orvalFetch<Result>(path: string, init: RequestInit): Promise<Result> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${connection.token}`);
  const response = await send(connection.url + path, { ...init, headers });
  const data = response.status === 204 ? undefined : await response.json();
  return { data, status: response.status, headers: response.headers } as Result; // Generated.
}
