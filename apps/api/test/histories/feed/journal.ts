import type postgres from 'postgres';
import { type SeenChange, textOf } from './copy.ts';

/**
 * The committed changes of the plants. A trigger records the changes. Transactions that change the same id
 * run one after the other, so the records of one id have the right order.
 */
export type Journal = ReadonlyMap<string, number>;

const install = `
  create table if not exists journal (
    place bigint generated always as identity, type text, id bigint, name text);
  create or replace function keep_journal() returns trigger security definer language plpgsql as $$
    begin
      insert into public.journal (type, id, name) values (
        case tg_op when 'INSERT' then 'created' else 'deleted' end,
        coalesce(new.id, old.id), coalesce(new.name, old.name));
      return null;
    end $$;
  create or replace trigger keep_journal after insert or delete on plants
    for each row execute function keep_journal();
  truncate plants, journal`;

/** Empties the table and the journal. */
export async function startJournal(admin: postgres.Sql): Promise<void> {
  await admin.unsafe(install);
}

export async function readJournal(admin: postgres.Sql): Promise<Journal> {
  const rows = await admin<{ type: string; id: string; name: string; place: string }[]>`
    select type, id, name, place from journal`;
  return new Map(rows.map(({ place, ...change }) => [keyOf(change), Number(place)]));
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
