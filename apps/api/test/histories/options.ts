import { parseArgs } from 'node:util';
import { type DatabaseName, databaseNames, type FaultName, faultNames } from './schedule.ts';

const subjects = ['responses', 'feed'] as const;

type Subject = (typeof subjects)[number];

interface Options {
  /** New histories begin during this number of seconds. */
  readonly seconds: number;
  /** The highest number of histories for each database. */
  readonly histories: number;
  /** The tested parts of the store: its responses, its feed of changes, or both parts. */
  readonly subjects: readonly Subject[];
  readonly databases: readonly DatabaseName[];
  /** The only fault that happens. */
  readonly fault: FaultName | undefined;
  /** The seed of the first history of each kind. */
  readonly seed: number;
}

const help = `Tests while faults happen: whether some order of the calls explains all responses of the store, and
whether everybody who follows the feed of changes gets exactly the store.

  npx -y pnpm test:histories

  --seconds 60      how long to begin new histories
  --histories N     how many histories for each database and for the feed, at most
  --subject NAME    ${subjects.join(' or ')}; both unless given
  --database NAME   ${databaseNames.join(' or ')}; both unless given
  --fault NAME      the only fault that happens; they take turns unless given:
                    ${faultNames.join(', ')}
  --seed N          the seed of the first history of each kind; the next ones follow
  --help            shows this text`;

/** Reads the command line. An invalid option ends the process, and `--help` does so too. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      histories: { type: 'string', default: '1000000' },
      subject: { type: 'string' },
      database: { type: 'string' },
      fault: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) end(help, 0);
  const whole = (name: 'seconds' | 'histories' | 'seed') => {
    if (/^\d{1,9}$/.test(values[name])) return Number(values[name]);
    return end(`--${name} is ${values[name]}: give a whole number`, 2);
  };
  const oneOf = <T extends string>(name: 'subject' | 'database' | 'fault', names: readonly T[]) => {
    const value = names.find((each) => each === values[name]);
    if (values[name] === undefined || value) return value;
    return end(`--${name} is ${values[name]}: give one of ${names.join(', ')}`, 2);
  };
  const subject = oneOf('subject', subjects);
  const database = oneOf('database', databaseNames);
  return {
    seconds: whole('seconds'),
    histories: whole('histories'),
    subjects: subject ? [subject] : subjects,
    databases: database ? [database] : databaseNames,
    fault: oneOf('fault', faultNames),
    seed: whole('seed'),
  };
}

function end(message: string, code: number): never {
  console.log(message);
  process.exit(code);
}
