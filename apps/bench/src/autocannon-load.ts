import autocannon from 'autocannon';
import { strewn } from './ids.ts';
import type { Load, LoadGenerator } from './load.ts';

/** autocannon, in this process: for machines without wrk. Its latencies are whole milliseconds. */
export const autocannonLoad: LoadGenerator = {
  name: 'autocannon',
  async run({ url, path, token, pieces, ids, connections, seconds }: Load) {
    const [start = '', ...rest] = pieces;
    let next = ids.first;
    const id = () => (ids.order === 'strewn' ? strewn(next++) : next++);

    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      requests: [
        {
          path,
          setupRequest: (request) => ({
            ...request,
            body: start + rest.map((piece) => id() + piece).join(''),
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
