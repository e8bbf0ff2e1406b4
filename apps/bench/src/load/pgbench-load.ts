import { execute } from '../processes/execute.ts';
import type { LoadGenerator } from './load.ts';
import { plantFields } from './request-format.ts';

// A client keeps its variables between two runs of the script. So no two inserts have the same number `k`.
const script = `\\set n :n + 1
\\set k :first + :n * :clients + :client_id
\\set id (1 - :k % 2 * 2) * permute(:k, 9223372036854775807)
insert into plants (id, name, tag) values (:id, :name, :tag) on conflict (id) do nothing returning id;`;

/** pgbench inserts the same plants with a prepared statement. The result is the upper limit of Postgres. */
export const pgbenchLoad: LoadGenerator = {
  name: 'pgbench',
  async run({ url, first, connections: clients, seconds }) {
    const variables = { n: -1, first, clients, ...plantFields };
    const threads = Math.min(clients, 2);
    const options = [`--client=${clients}`, `--jobs=${threads}`, `--time=${seconds}`, '--file=-'];
    const defined = Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`);
    const fixed = ['--no-vacuum', '--protocol=prepared'];
    const output = await execute('pgbench', [...fixed, ...options, ...defined, url], script);
    const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
    const responses = number(/actually processed: (\d+)/);
    const errors = number(/failed transactions: (\d+)/);
    // pgbench prints no percentiles.
    const percentiles = { p50: Number.NaN, p99: Number.NaN };
    return { responses, errors, seconds: responses / number(/tps = ([\d.]+)/), ...percentiles };
  },
};
