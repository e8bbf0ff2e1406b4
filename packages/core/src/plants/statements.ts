import { maxExactCount } from '@plant-store/schemas';
import { lateWrite } from '../database/errors.ts';

/**
 * The statements on plants. The comment of each statement names its parameters. In writes, arrays of plants are
 * ascending by id, so that two statements with the same plants lock the rows in the same order.
 */

export const columns = 'id, name, tag, created_at, updated_at';

/** SQL for the time zone UTC as an offset. Postgres would look up the name `UTC` for each plant. */
const utc = "interval '0'";

/**
 * SQL for the columns of several plants as JSON: one array for each column, in the order of `plantColumns`. One
 * JSON object for each plant would take Postgres three times as long. `updated_at` is null when no plant was
 * replaced.
 *
 * @param condition selects the plants
 */
export const plantArrays = (condition = 'true') => `
  (json_agg(id) filter (where ${condition}))::text,
  (json_agg(name) filter (where ${condition}))::text,
  (json_agg(tag) filter (where ${condition}))::text,
  (json_agg(created_at at time zone ${utc}) filter (where ${condition}))::text,
  case when count(updated_at) > 0
    then (json_agg(updated_at at time zone ${utc}) filter (where ${condition}))::text end`;

/**
 * SQL that causes an error in a late write. The error undoes the whole statement. A write may be late because
 * the network is slow, or because this process was suspended before it sent the write. An invalid cast causes
 * the error, because SQL has `RAISE` only in functions.
 */
const tooLate = `('${lateWrite}: ' || clock_timestamp())::bigint::text`;

/**
 * SQL that makes a statement wait for the synchronous standby at its end, even without changes. When somebody
 * cancels the wait of a commit, the rows of the commit are visible before they are durable.
 */
const waitForStandby = `pg_logical_emit_message(true, 'plant-store', '')`;

/**
 * Inserts the plants whose ids are free, and returns their ids. The columns' defaults set the time and the place
 * in the feed: see `tables.ts`. Checks the clock after the last row, because a row may wait for another transaction.
 *
 * $1 ids, $2 names, $3 tags, $4 the deadline
 */
export const insertPlants = `
  with inserted as (
    insert into plants (id, name, tag)
    select * from unnest($1::bigint[], $2::text[], $3::text[])
    on conflict (id) do nothing
    returning id
  )
  select case when clock_timestamp() < $4::timestamptz
    then coalesce(array_agg(id)::text, '{}') else ${tooLate} end
  from inserted`;

/**
 * Deletes plants, and keeps them in `plant_deletions` for the feed. Returns the ids of the deleted plants,
 * and the ETag of each stored plant that was not deleted.
 *
 * $1 ids, $2 the expected ETags of each id with commas between them, or null, $3 the deadline
 */
export const deletePlants = `
  with deleted as (
    delete from plants
    where id = any($1::bigint[])
      and coalesce(changed_in::text =
        any(string_to_array(($2::text[])[array_position($1::bigint[], id)], ',')), true)
    returning ${columns}, created_in
  ), noted as (
    insert into plant_deletions (${columns}, created_in)
    select ${columns}, created_in from deleted
  )
  select
    case when clock_timestamp() < $3::timestamptz then ids else ${tooLate} end,
    (select json_object_agg(id, changed_in)::text from plants
      where id = any($1::bigint[]) and id <> all(ids::bigint[])),
    ${waitForStandby}
  from (select coalesce(array_agg(id)::text, '{}') as ids from deleted) as done`;

/**
 * Replaces the content of a plant, and moves the plant to the end of the feed. Returns the previous ETag. If
 * the plant was replaced, also returns the new plant with its ETag.
 *
 * $1 id, $2 name, $3 tag, $4 the expected ETags as an array in text form, or null, $5 the deadline
 */
export const replacePlant = `
  with replaced as (
    update plants set name = $2, tag = $3, changed_in = pg_current_xact_id(), updated_at = now()
    where id = $1::bigint and coalesce(changed_in = any($4::xid8[]), true)
    returning *
  )
  select
    case when clock_timestamp() < $5::timestamptz
      then (select changed_in::text from plants where id = $1::bigint) else ${tooLate} end,
    ${waitForStandby}, done.*
  from (select ${plantArrays()}, json_agg(changed_in)::text from replaced) as done`;

/** Selects plants and their ETags. $1 ids */
export const findPlants = `
  select ${plantArrays()}, json_agg(changed_in)::text from plants where id = any($1::bigint[])`;

/**
 * Selects plants, and waits until the standby has them. The statement that reads the plants must itself
 * contain `waitForStandby`, because a failover could happen between two statements.
 *
 * $1 ids
 */
export const findDurable = `
  select ${plantArrays()}, ${waitForStandby} from plants where id = any($1::bigint[])`;

/** The maximum size of the names and tags in a page, in bytes. The first plant of a page may be larger. */
export const maxPageBytes = 2 ** 20;

/** SQL for the size of the content of a plant, in bytes. */
export const contentBytes = 'octet_length(name) + coalesce(octet_length(tag), 0)';

/**
 * SQL for the condition that a plant has a tag. An index entry may have at most 2,704 bytes, so the index
 * contains the hash of the tag. With a plain condition instead of `case`, the planner would sort all plants of
 * a frequent tag.
 */
export const hasTag = (tag: string) => `
  hashtextextended(tag, 0) = hashtextextended(${tag}, 0) and case when tag = ${tag} then true end`;

/**
 * Selects several pages of the same size. A row has the columns of a page's small plants, and whether all plants
 * are small. A row may have one plant more than the page. `selectPage` reads a page with a large plant.
 *
 * The subqueries hide the values of the parameters from the planner. Otherwise, Postgres would plan the
 * statement again for new values. The outer limit lowers the estimated cost. With a high estimate, Postgres
 * would compile the statement for each execution (`jit`).
 *
 * $1 the lowest id of each page, $2 the tag of each page, $3 plants in a page, $4 bytes in a small plant
 */
const selectPages = (condition: string) => `
  select page.*
  from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (lowest, tag, place)
  cross join lateral (
    select coalesce(bool_and(is_small), true), ${plantArrays('is_small')}
    from (
      select * from (
        select ${columns}, ${contentBytes} <= (select $4::int) as is_small
        from plants where id >= asked.lowest and ${condition} order by id limit (select $3::int) + 1
      ) as found
      order by id limit 1001
    ) as found
  ) as page
  order by place`;

export const selectPagesOfAll = selectPages('true');
export const selectPagesOfTag = selectPages(hasTag('asked.tag'));

/**
 * SQL for one page of at most `maxPageBytes`. The first column is the number of plants found, at most $2 + 1.
 * The next columns are the plants that fit into the page.
 *
 * @param found selects the plants. $2 is the maximum number of plants in the page
 */
const fittingPage = (found: string, last = 'null') => `
  select count(*)::int,
    ${plantArrays(`place <= $2::int and (bytes <= ${maxPageBytes} or place = 1)`)},
    ${last}
  from (
    select *, row_number() over in_order as place, sum(${contentBytes}) over in_order as bytes
    from (
      ${found}
      order by id limit $2::int + 1
    ) as found
    window in_order as (order by id rows unbounded preceding)
    order by id
  ) as found`;

/** Selects a page whose plants may be large. $1 the lowest id, $2 plants in the page, $3 the tag */
const selectPage = (condition: string) =>
  fittingPage(`select ${columns} from plants where id >= $1::bigint and ${condition}`);

export const selectPageOfAll = selectPage('true');
export const selectPageOfTag = selectPage(hasTag('$3::text'));

/**
 * The maximum number of plants that the search for one page compares. No index supports a search for a part
 * of a name. Comparing this number of ordinary names takes Postgres about 0.1 s.
 */
export const maxCompared = 100_000;

/**
 * Selects a page of a search. If the search stopped after `maxCompared` plants and found no plant beyond the page,
 * the last column is the id of the last compared plant.
 *
 * $1 the lowest id, $2 plants in the page, $3 a pattern for each word of the search, $4 the tag
 */
const searchPage = (condition: string) => {
  const compared = `from plants
        where id >= $1::bigint and ${condition} order by id limit ${maxCompared}`;
  return fittingPage(
    `select * from (
        select ${columns} ${compared}
      ) as compared
      where lower(name) like all(
        (select array_agg(lower(word)) from unnest($3::text[]) as word)::text[])`,
    `case when count(*) <= $2::int then (
      select max(id)::text from (
        select id ${compared}
      ) as compared having count(*) = ${maxCompared}
    ) end`,
  );
};

export const searchPageOfAll = searchPage('true');
export const searchPageOfTag = searchPage(hasTag('$4::text'));

/** Counts plants, up to `maxExactCount` + 1. */
const countUpTo = (condition: string) => `
  select count(*)::text from (select 1 from plants where ${condition} limit ${maxExactCount + 1}) as found`;

export const countPlants = countUpTo('true');

/** $1 the tag */
export const countPlantsOfTag = countUpTo(hasTag('$1::text'));

/** Checks that the table exists. */
export const findNothing = `select ${columns} from plants where false`;
