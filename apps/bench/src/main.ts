import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '@plant-store/test-setup';
import { againstCases, type Case, peerCases } from './contenders.ts';
import { measure } from './measure.ts';
import { report } from './report.ts';
import { checkOut } from './server.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    help: { type: 'boolean', default: false },
  },
});
const isAgainst = positionals[0] === 'against';
const [commit, ...againstNames] = isAgainst ? positionals.slice(1) : [];
const names = isAgainst ? againstNames : positionals;
const [ofPeers, ofCommits] = [await peerCases(), await againstCases()].map((cases) =>
  cases.map(({ name }) => name),
);
const help = `Measures the CPU time of a request to the store, and to its peers or to the store at another commit.

  npx -y pnpm bench [CASE …]                 beside the peers; about 18 minutes
                                             CASE: ${ofPeers?.join(', ')}
  npx -y pnpm bench against COMMIT [CASE …]  beside a commit; about 80 seconds for a CASE
                                             CASE: ${ofCommits?.join(', ')}

  --rounds N    the number of rounds; default: 3
  --seconds N   the measured seconds of each server in a round; default: 6
  --help        shows this text`;
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];

const error = argumentError();
if (values.help) console.log(help);
else if (error) {
  console.error(`${error}\n\n${help}`);
  process.exitCode = 2;
} else await run();

function argumentError(): string | undefined {
  const known = (isAgainst ? ofCommits : ofPeers) ?? [];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) return `there is no case ${unknown}: choose from ${known.join(', ')}`;
  if (isAgainst && !commit) return 'against needs a commit, such as HEAD~1';
  for (const [option, value] of Object.entries({ rounds, seconds })) {
    const isValid = Number.isInteger(value) && value >= 1;
    if (!isValid) return `--${option} must be a whole number of at least 1`;
  }
  return undefined;
}

/** Prints the report to standard output. The exit code is 1 after a fault, but 0 after a missed bound. */
async function run(): Promise<void> {
  const checkout = commit ? await checkOut(commit) : undefined;
  const postgres = await startPostgres();
  const stop = () => postgres.stop().finally(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const all = checkout ? await againstCases(checkout.directory) : await peerCases();
    const isChosen = ({ name }: Case) => names.length === 0 || names.includes(name);
    const results = await measure(postgres, { cases: all.filter(isChosen), rounds, seconds });
    console.log(['npx -y pnpm bench', ...process.argv.slice(2)].join(' '));
    const processor = `${availableParallelism()} × ${cpus()[0]?.model}`;
    const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
    console.log(`${processor}, ${memory}, ${type()} ${release()}, Node ${process.version}\n`);
    console.log(report(results));
    if (results.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  } finally {
    await postgres.stop();
    checkout?.remove();
  }
}
