import { PlantStoreError } from '@plant-store/core';
import {
  changeStatements,
  distribute,
  explainDatabaseError,
  plantStatements,
  runDoctor,
  webhookStatements,
} from '@plant-store/core/operator';
import { type Scope, scopes } from '@plant-store/schemas';
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadSettings } from '../settings.ts';
import { openStore } from '../start.ts';

const help = `
Without a command, the program starts the server. The commands use the settings of the server, and its
database. Stop the server first if it uses the embedded database. plant-store works while the server runs.

Exit codes: 0 done, 1 an error stopped the command or doctor found a problem, 2 the command is not valid

Example:
  plant-store-server doctor
`;

/** Parses the arguments of the process, and runs the operator's command. */
export async function runOperator(): Promise<void> {
  const program = new Command('plant-store-server')
    .description('Starts the plant store, or works on its database.')
    .addHelpText('after', help)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

  program
    .command('doctor')
    .description('examine the Postgres of DATABASE_URL, and say what to do')
    .option('--json', 'write each finding as a line of JSON')
    .action(doctor);

  program
    .command('distribute')
    .description('distribute the plants over the nodes of a Citus cluster: see docs/scaling.md')
    .option('--shards <count>', 'the number of shards (default: two for each node)', shardCount)
    .option('--yes', 'distribute them. Without this option, only say how')
    .action(distributePlants);

  program
    .command('sql')
    .description('print each statement of the store on plants, changes and webhooks')
    .action(() => void process.stdout.write(printStatements()));

  program
    .command('token')
    .description('manage access tokens')
    .command('create')
    .description('create an access token in the database, such as the first of a Postgres')
    .argument('<name>', 'the name of the client, which the log shows')
    .addOption(new Option('--scopes <scope...>', 'what the token may do').choices(scopes))
    .option('--days <count>', 'the days until the token expires', Number)
    .action(createToken);

  try {
    await program.parseAsync();
  } catch (error) {
    const isDatabase = error instanceof PlantStoreError;
    const message = isDatabase ? explainDatabaseError(error) : Object(error).message;
    process.stderr.write(`plant-store-server: ${message}\n`);
    process.exitCode = 1;
  }
}

async function createToken(name: string, { scopes, days }: { scopes?: Scope[]; days?: number }) {
  const store = await openStore(loadSettings(), { requireConnection: true });
  const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * 86_400_000);
  const creating = store.accessTokens.create(name, { scopes, expiresAt });
  process.stdout.write(`${await creating.finally(() => store.close())}\n`);
}

async function doctor({ json }: { json?: true }): Promise<void> {
  const { DATABASE_URL: databaseUrl } = loadSettings();
  if (!databaseUrl) throw new Error('doctor examines a Postgres: set DATABASE_URL to its address');
  const findings = await runDoctor({ databaseUrl });
  for (const finding of findings) {
    const { level, check, message } = finding;
    const line = `${level.padEnd(8)} ${check.padEnd(12)} ${message}`;
    process.stdout.write(`${json ? JSON.stringify(finding) : line}\n`);
  }
  if (findings.some(({ level }) => level === 'problem')) process.exitCode = 1;
}

async function distributePlants({ shards, yes }: { shards?: number; yes?: true }): Promise<void> {
  const { DATABASE_URL: databaseUrl } = loadSettings();
  if (!databaseUrl) throw new Error('set DATABASE_URL to the coordinator of a Citus cluster');
  const confirm = async (plan: string) => {
    process.stdout.write(`Distributes the plants to ${plan}. Writes wait meanwhile.\n`);
    return yes ?? false;
  };
  const isDone = await distribute(databaseUrl, { shards, confirm });
  process.stdout.write(isDone ? 'The plants are distributed.\n' : 'To do this, add --yes.\n');
}

/** Returns the exported statements as an SQL script, without exported functions and parts of statements. */
function printStatements(): string {
  const rooms = {
    plants: plantStatements,
    changes: changeStatements,
    webhooks: webhookStatements,
  };
  const printed = Object.entries(rooms).flatMap(([room, exported]) =>
    Object.entries<unknown>(exported)
      .map(([name, sql]) => [name, String(sql).trim()] as const)
      .filter(([, sql]) => /^\(?(select|with|insert|update|delete) /.test(sql))
      .map(([name, sql]) => `-- ${room}: ${name}\n${withoutIndent(sql)};\n`),
  );
  return printed.join('\n');
}

function withoutIndent(sql: string): string {
  const lines = sql.split('\n').map((line) => line.replace(/^ {2}/, '').trimEnd());
  return lines.filter((line) => line !== '').join('\n');
}

function shardCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of shards, such as 8.');
}
