import { storedColumns } from './columns.ts';

/** The bounds for one page of a search. Each page reads at least one plant. */
export interface SearchBounds {
  /** The maximum number of plants to read. On a cluster, each shard sends up to this number of plants. */
  readonly rows: number;
  readonly milliseconds: number;
  /** The SQL of the time from which the milliseconds count. */
  readonly since: string;
}

/** The time of the first plant, because a cluster first sends all plants to the coordinator. */
const firstPlant = 'min(clock_timestamp()) over page';

/**
 * An embedded database has only one session, so a page of a search delays all other statements. Reading the
 * clock is slow there.
 */
export const searchBounds = {
  postgres: { rows: 50_000, milliseconds: 50, since: firstPlant },
  cluster: { rows: 2_000, milliseconds: 50, since: firstPlant },
  embedded: { rows: 50_000, milliseconds: 20, since: 'statement_timestamp()' },
} as const satisfies Record<string, SearchBounds>;

/**
 * Selects the plants of a page whose names contain a text, and one further plant. No index finds a part of a
 * name, so the statement compares each name of a limited number of plants.
 *
 * `is_match` is null for a plant whose name the search has not compared in time. In the row at which the search
 * ended, `reached` is the highest id up to which the search has compared all names.
 */
export function selectMatches(
  where: string,
  size: number | string,
  text: string,
  { rows, milliseconds, since }: SearchBounds,
): string {
  return `
    select ${storedColumns}, is_match,
      case when is_match is null then id - 1 when place = ${rows} then id end as reached
    from (
      select ${storedColumns}, row_number() over page as place,
        case when row_number() over page = 1
          or clock_timestamp() <= ${since} + interval '${milliseconds} ms'
          then coalesce(strpos(lower(name), (select lower(${text}))) > 0, false) end as is_match
      from (select ${storedColumns} from plants ${where} order by id limit ${rows}) as looked
      window page as (order by id rows unbounded preceding) order by id
    ) as compared
    where is_match is not false or place = ${rows}
    order by id limit ${size} + 1`;
}
