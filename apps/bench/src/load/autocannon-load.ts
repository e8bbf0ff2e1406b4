import autocannon from 'autocannon';
import { nthId } from './ids.ts';
import { accessToken, type LoadGenerator } from './load.ts';
import { bodyParts } from './request-format.ts';

/** Runs autocannon in this process, for machines without wrk. autocannon reports whole milliseconds. */
export const autocannonLoad: LoadGenerator = {
  name: 'autocannon',
  async run({ url, format, order, first, connections, seconds }) {
    const { method, path } = format;
    const [start = '', ...rest] = bodyParts(format, order);
    let next = first;
    const id = () => nthId(order, next++);
    const setupRequest = (request: autocannon.Request) => ({
      ...request,
      path: path.replace('{id}', id),
      body: start + rest.map((part) => id() + part).join(''),
    });
    const json = method === 'POST' && { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${accessToken}`, ...json };
    const duration = seconds;
    const requests = [{ setupRequest }];
    const result = await autocannon({ url, connections, duration, method, headers, requests });
    return {
      responses: result['1xx'] + result['2xx'] + result['3xx'],
      errors: result['4xx'] + result['5xx'] + result.errors,
      seconds: result.duration,
      p50: result.latency.p50,
      p99: result.latency.p99,
    };
  },
};
