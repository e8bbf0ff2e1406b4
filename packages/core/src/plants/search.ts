import { storedColumns } from './columns.ts';

/** The bounds of one page of a search. It looks at one plant or more. */
export interface SearchBounds {
  /** The most plants to look at. On a cluster, each shard sends as many plants to the coordinator. */
  readonly rows: number;
  readonly milliseconds: number;
}

export function searchBounds(isCluster: boolean): SearchBounds {
  return { rows: isCluster ? 2_000 : 50_000, milliseconds: 50 };
}

/**
 * Selects the plants of a page whose name contains a text, and one more. No index finds a part of a name, so
 * the statement looks at each plant, but only at a limited number of them.
 *
 * `is_match` is null for a plant that the search has not looked at, because the time was up. `reached` is the
 * last id before which the search has looked at all plants, when the search ended there.
 */
export function selectMatches(
  where: string,
  size: number | string,
  text: string,
  { rows, milliseconds }: SearchBounds,
): string {
  return `
    select ${storedColumns}, is_match,
      case when is_match is null then id - 1 when place = ${rows} then id end as reached
    from (
      select ${storedColumns}, row_number() over (order by id rows unbounded preceding) as place,
        case when clock_timestamp() <= (select clock_timestamp() + interval '${milliseconds} ms')
          then strpos(lower(name), (select lower(${text}))) > 0 end as is_match
      from (select ${storedColumns} from plants ${where} order by id limit ${rows}) as looked
      order by id
    ) as compared
    where is_match is not false or place = ${rows}
    order by id limit ${size} + 1`;
}
