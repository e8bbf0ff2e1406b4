import autocannon from 'autocannon';
import type { Load, LoadGenerator } from './load.ts';
import { scatteredId } from './scattered-id.ts';

/** autocannon in this process, for machines without wrk. It reports latencies in whole milliseconds. */
export const autocannonLoad: LoadGenerator = {
  name: 'autocannon',
  async run({ url, path, accessToken, bodyParts, ids, connections, seconds }: Load) {
    const [start = '', ...rest] = bodyParts;
    let next = ids.first;
    const id = () => (ids.order === 'scattered' ? scatteredId(next++) : next++);

    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      requests: [
        {
          path,
          setupRequest: (request) => ({
            ...request,
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
