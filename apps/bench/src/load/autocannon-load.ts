import autocannon from 'autocannon';
import { nthId } from './ids.ts';
import type { Load, LoadGenerator } from './load.ts';

/** autocannon in this process, for machines without wrk. It reports latencies in whole milliseconds. */
export const autocannonLoad: LoadGenerator = {
  name: 'autocannon',
  async run({ url, method, path, accessToken, bodyParts, ids, connections, seconds }: Load) {
    const [start = '', ...rest] = bodyParts;
    let next = ids.first;
    const id = () => nthId(ids.order, next++);

    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      method,
      headers: {
        authorization: `Bearer ${accessToken}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      requests: [
        {
          setupRequest: (request) => ({
            ...request,
            path: path.replace('{id}', () => String(id())),
            body: start + rest.map((part) => id() + part).join(''),
          }),
        },
      ],
    });
    return {
      replies: result['1xx'] + result['2xx'] + result['3xx'],
      errors: result['4xx'] + result['5xx'] + result.errors,
      seconds: result.duration,
      p50: result.latency.p50,
      p99: result.latency.p99,
    };
  },
};
