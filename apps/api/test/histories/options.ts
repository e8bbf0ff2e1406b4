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
  /** The database on which the histories test the feed. */
  readonly fault: FaultName | undefined;
  /** The seed of the first history. Each further history has the next seed. */
  readonly seed: number;
}

/** Reads the command line. Throws an error for an unknown option, subject, database or fault. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      histories: { type: 'string', default: '1000000' },
      subject: { type: 'string' },
      database: { type: 'string' },
      fault: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const oneOf = <T extends string>(name: 'subject' | 'database' | 'fault', names: readonly T[]) => {
    const value = names.find((each) => each === values[name]);
    if (values[name] === undefined || value) return value;
    throw new Error(`--${name} is ${values[name]}: give one of ${names.join(', ')}`);
  };
  const subject = oneOf('subject', subjects);
  const database = oneOf('database', databaseNames);
  return {
    seconds: Number(values.seconds),
    histories: Number(values.histories),
    subjects: subject ? [subject] : subjects,
    databases: databaseNames.filter((name) => (database ?? name) === name),
    fault: oneOf('fault', faultNames),
    seed: Number(values.seed),
  };
}
