import type postgres from 'postgres';
import { type SeenChange, textOf } from './copy.ts';
import { onceReady } from './feed-faults.ts';
import type { FeedWorld } from './feed-world.ts';

/**
 * The committed changes of the plants, with the time of each change in microseconds. On each node, a trigger
 * records the changes. Transactions that change the same id run one after the other, so the records of one id
 * have the right order.
 */
export type Journal = ReadonlyMap<string, number>;

const createTable = `
  create table if not exists journal (
    type text, id bigint, name text,
    time bigint default (1000000 * extract(epoch from clock_timestamp()))::bigint)`;

const createFunction = `
  create or replace function keep_journal() returns trigger security definer language plpgsql as $$
    begin
      insert into public.journal (type, id, name) values (
        case tg_op when 'INSERT' then 'created' else 'deleted' end,
        coalesce(new.id, old.id), coalesce(new.name, old.name));
      return null;
    end $$`;

const createTrigger = `
  create or replace trigger keep_journal after insert or delete on plants
    for each row execute function keep_journal()`;

/** Empties the table and the journal. */
export async function startJournal({ database, databases }: FeedWorld): Promise<void> {
  for (const { admin } of databases()) {
    await admin.unsafe(createTable);
    await admin.unsafe('truncate journal');
  }
  for (const statement of [createFunction, createTrigger])
    await onceReady(() => database.admin.unsafe(statement));
  await emptyPlants(database);
}

export async function emptyPlants({ admin }: FeedWorld['database']): Promise<void> {
  await onceReady(() => admin`truncate plants`);
}

export async function readJournal({ databases }: FeedWorld): Promise<Journal> {
  const journal = new Map<string, number>();
  for (const { admin } of databases()) {
    for (const { time, ...change } of await admin<Recorded[]>`
      select type, id, name, min(time) as time from journal group by type, id, name`) {
      const key = keyOf(change);
      journal.set(key, Math.min(Number(time), journal.get(key) ?? Number.POSITIVE_INFINITY));
    }
  }
  return journal;
}

interface Recorded {
  type: string;
  id: string;
  name: string;
  time: string;
}

export async function readTable(admin: postgres.Sql): Promise<Map<bigint, string>> {
  const rows = await admin<{ id: string; name: string; tag?: string; created_at: Date }[]>`
    select id, name, tag, created_at from plants`;
  return new Map(
    rows.map(({ id, created_at: createdAt, ...plant }) => [
      BigInt(id),
      textOf({ id: BigInt(id), ...plant, createdAt }),
    ]),
  );
}

export const isCommitted = (journal: Journal, change: SeenChange): boolean =>
  journal.has(keyOf(change));

/**
 * Describes the wrong changes of a follower. A change is wrong when nobody committed the change, or when the
 * follower has already seen this change or a later change of the same id.
 */
export function wrongChanges(journal: Journal, changes: readonly SeenChange[]): string[] {
  const latest = new Map<bigint, number>();
  return changes.flatMap((change) => {
    const { type, id, name } = change;
    const place = journal.get(keyOf(change));
    if (place === undefined) return [`nobody committed: ${type} ${id} ${name}`];
    const previous = latest.get(id) ?? -1;
    latest.set(id, Math.max(place, previous));
    return place > previous ? [] : [`out of order: ${historyOf(id, changes, journal)}`];
  });
}

function historyOf(id: bigint, changes: readonly SeenChange[], journal: Journal): string {
  const own = changes.filter((change) => change.id === id);
  const texts = own.map(
    (change) => `${change.type} ${change.name} (${journal.get(keyOf(change))})`,
  );
  return `${id} ${texts.join(', ')}`;
}

/** Each create has a unique name. */
const keyOf = ({ type, id, name }: { type: string; id: bigint | string; name: string }) =>
  `${type} ${id} ${name}`;
