import { serve, token } from '../fixtures/program.ts';

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** A client of an instance of the server. Each call has a time limit. */
export interface Instance {
  /**
   * Sends a call. Resolves with the error code or the status. Resolves with `none` when the client gave up.
   */
  call(method: string, path: string, plant?: object, patience?: number): Promise<string>;
  create(plant: { id: number; name: string }): Promise<string>;
  delete(id: number, patience?: number): Promise<string>;
  get(id: number): Promise<string>;
}

/** Starts an instance of the server. The instance ends with the test. */
export async function startInstance(databaseUrl: string): Promise<Instance> {
  const { url } = await serve({ DATABASE_URL: databaseUrl });

  const call: Instance['call'] = async (method, path, plant, patience = 60_000) => {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(patience),
        ...(plant && { body: JSON.stringify(plant) }),
      });
      const [code] = /(?<="error":)\d+/.exec(await response.text()) ?? [];
      return code ?? String(response.status);
    } catch {
      return 'none';
    }
  };
  return {
    call,
    create: (plant) => call('POST', '/plants', plant),
    delete: (id, patience) => call('DELETE', `/plants/${id}`, undefined, patience),
    get: (id) => call('GET', `/plants/${id}`),
  };
}
