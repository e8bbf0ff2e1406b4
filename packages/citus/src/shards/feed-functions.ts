import {
  changesIn,
  columnsJson,
  contentColumns,
  isOwn,
  isReplacement,
  ownFeed,
  pageOf,
  storedColumns,
  timeline,
  transactionBits,
} from '@plant-store/core/cluster';
import { forEachShard, ownPath } from './for-each-shard.ts';

/**
 * The functions and triggers of the feed on a cluster (docs/decisions/cluster-feed.md). In `changed_in`, the
 * upper bits name the node that made the change, so a node recognizes its own changes even after a shard has
 * moved. The lower bits are the number of a transaction on that node.
 */
export const numberFunction = 'plant_store_number';
const changesName = 'plant_store_changes';
const renewName = 'plant_store_renew';
const forgetName = 'plant_store_forget';

/** The name of the function that reads changes, with the types of its parameters. */
const changesSignature = `${changesName}(bigint,text,text,text,text)`;

/**
 * The number of the log of a node. The log 0 stands for transaction numbers from before the feed, so the
 * coordinator, whose group is 0, has the log 1.
 */
export const nameOf = (group: number) => BigInt(group + 1);

/** The SQLSTATE of `plant_store_changes` when other nodes store the plants than the caller expects. */
export const nodesChanged = 'PS002';

/** SQL for the lowest value of `changed_in` that belongs to this node. */
const lowest = `(((select groupid from pg_dist_local_group) + 1)::bigint << ${transactionBits})`;

const asNumber = (sql: string) => `(${lowest} + (${sql})::text::bigint)::text::xid8`;

/** Adds a condition that is not constant, so that Citus does not pass the call on to another node. */
export const callHere = (callAnywhere: string) => `${callAnywhere} where now() is not null`;

/** Without `callHere`, Citus passes these calls to the node that stores the plant `key` ($1). */
export const callFeed = {
  changes: `select * from ${changesName}($1, $2, $3, $4, $5)`,
  renew: `select * from ${renewName}($1)`,
  forget: `select * from ${forgetName}($1, $2)`,
};

/** A call forgets at most this many deletions of each shard, so that the call ends soon. */
export const forgetStep = 1_000;

/** The shards of `plants` on this node, and the shards of `plant_deletions` with the same ids. */
const shardsHere = `
  select plant.shardid, shard_name(plant.logicalrelid, plant.shardid) as plants,
    shard_name(deletion.logicalrelid, deletion.shardid) as deletions
  from pg_dist_shard as plant join pg_dist_placement as place on place.shardid = plant.shardid
    join pg_dist_shard as deletion on deletion.logicalrelid = 'plant_deletions'::regclass
      and deletion.shardminvalue = plant.shardminvalue
  where plant.logicalrelid = 'plants'::regclass
    and place.groupid = (select groupid from pg_dist_local_group)`;

const changesOfShard = `
      when %1$s then return query select change.*, ${isReplacement('%3$s')}
        from (${changesIn('%2$s', '%3$s')}) as change;`;

/** SQL that creates a function. In the text, %1$s stands for the node's own copy of `plant_feed`. */
const withFeed = (text: string) => `do $do$
  begin
    execute format($create$${text}$create$, shard_name(logicalrelid, shardid))
    from pg_dist_shard where logicalrelid = 'plant_feed'::regclass;
  end
  $do$`;

const feed = ownFeed.replace('plant_feed', '%1$s as plant_feed');

/** All columns of a page of changes except the first. `selectChanges` in core selects the same columns. */
const pageColumns = [
  'numbers',
  'types',
  'replacements',
  ...columnsJson().map((_, i) => `column${i}`),
];

const changesHere = `
      select change.* from (${shardsHere}) as here, plant_store_shard_changes(
        after_number::xid8, after_id::bigint, size::int, up_to, here.shardid) as change
      order by changed_in, id limit size::int`;

const rowColumns = storedColumns.join(', ');

/** The statements that create or replace the functions and triggers for the current shards. */
export const createFeedFunctions = [
  // Switches on `synchronous_commit`, as `thisTransaction` in core does, so the commit waits for the disk.
  `create or replace function ${numberFunction}() returns xid8 language plpgsql as $function$
  begin
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'local', true);
    end if;
    return ${asNumber('pg_current_xact_id()')};
  end
  $function$`,
  `create or replace function plant_store_number_plant() returns trigger language plpgsql
  ${ownPath}
  as $function$
  begin
    if tg_table_name <> 'plants' then new.changed_in := ${numberFunction}(); end if;
    return new;
  end
  $function$`,
  `create or replace function plant_store_note_deletions() returns trigger language plpgsql
  set citus.enable_manual_changes_to_shards = on
  ${ownPath}
  as $function$
  declare
    deletions text;
  begin
    if tg_table_name = 'plants' then return null; end if;
    deletions := shard_name(deletion.logicalrelid, deletion.shardid)
      from pg_dist_shard as plant join pg_dist_shard as deletion using (shardminvalue)
      where plant.shardid = substring(tg_table_name from '[0-9]+$')::bigint
        and deletion.logicalrelid = 'plant_deletions'::regclass;
    execute format('insert into %s (${rowColumns}, created_in, changed_in)
      select ${rowColumns}, changed_in, ${numberFunction}() from deleted
      on conflict do nothing', deletions);
    return null;
  end
  $function$`,
  'set citus.enable_unsafe_triggers = on',
  // The insert function writes numbers that name the node. The trigger numbers other rows, which have a plain
  // transaction number or no number. The triggers' functions ignore rows of `plants` itself, because `plants`
  // may become an ordinary table again.
  `create or replace trigger plant_store_number before insert on plants for each row
    when (new.changed_in is null or new.changed_in < '${2n ** transactionBits}'::xid8)
    execute function plant_store_number_plant()`,
  `create or replace trigger plant_store_note_deletions after delete on plants
    referencing old table as deleted for each statement
    execute function plant_store_note_deletions()`,
  'reset citus.enable_unsafe_triggers',
  // An earlier version of this function may return other columns, so Postgres cannot replace the function.
  forEachShard(
    `drop function if exists plant_store_shard_changes(xid8, bigint, int, xid8, bigint);
  create function plant_store_shard_changes(
    after_number xid8, after_id bigint, size int, up_to xid8, shard bigint)
  returns table (type text, id bigint, ${contentColumns.map(({ name, type }) => `${name} ${type}`).join(', ')},
    created_at timestamptz, changed_in xid8, created_in xid8, is_replacement boolean)
  language plpgsql stable as $function$
  #variable_conflict use_column
  begin
    case shard`,
    changesOfShard,
    `
    end case;
  end
  $function$`,
  ),
  // All statements of a stable function see the same snapshot. The epoch depends on the files of the shards.
  // The function reads the files last, because Citus cannot replace a shard after the function has read it.
  withFeed(`drop function if exists ${changesSignature};
  create function ${changesName}(
    key bigint, nodes text, after_number text, after_id text, size text)
  returns table (feed text, ${pageColumns.map((name) => `${name} text`).join(', ')}, total bigint)
  language plpgsql stable
  ${ownPath}
  as $function$
  #variable_conflict use_column
  declare
    up_to xid8 := ${asNumber('pg_snapshot_xmin(pg_current_snapshot())')};
    last_number bigint;
  begin
    if after_number is not null then
      ${pageOf(changesHere, 'is_replacement')}
      into ${pageColumns.join(', ')}, total;
    else
      execute 'select max(changed_in::text::bigint) from (' || (
        select string_agg(format('(select changed_in from %%s where changed_in < $1
          order by changed_in desc limit 1)', shard), ' union all ')
        from (${shardsHere}) as here, unnest(array[plants, deletions]) as shard
      ) || ') as latest' into last_number using up_to;
    end if;
    if nodes <> (select groupid from pg_dist_local_group) || ':' || (
      select string_agg(distinct groupid::text, ',' order by groupid::text) from pg_dist_placement
      where shardid in (select shardid from pg_dist_shard where logicalrelid = 'plants'::regclass)
    ) then
      raise exception 'other nodes store the plants' using errcode = '${nodesChanged}';
    end if;
    if not exists (select from %1$s) then return; end if;
    feed := json_build_object(
      'isPrimary', true, 'isCluster', false,
      'isOwn', exists (select from %1$s as plant_feed where ${isOwn}),
      'epoch', (select left(md5(concat_ws(' ', epoch, system_identifier, timeline,
          (select oid from pg_database where datname = current_database()),
          (select string_agg(concat_ws(' ', pg_relation_filenode(to_regclass(plants)),
              pg_relation_filenode(to_regclass(deletions))), ' ' order by shardid)
            from (${shardsHere}) as here))), 16)
        from ${feed} and timeline = ${timeline} order by epoch limit 1),
      'forgottenUpTo', (select max(forgotten_up_to::text::bigint)::text from ${feed}),
      'upTo', up_to::text, 'isHeldBack', up_to < ${asNumber('pg_snapshot_xmax(pg_current_snapshot())')},
      'latest', greatest(last_number, ${lowest},
        (select max(forgotten_up_to::text::bigint) from ${feed}))::text,
      'count', coalesce(total, 0))::text;
    return next;
  end
  $function$`),
  // Each node changes only its own row in its own copy of plant_feed. No other node reads this row.
  withFeed(`create or replace function ${renewName}(key bigint) returns void language plpgsql
  set citus.enable_manual_changes_to_shards = on
  ${ownPath}
  as $function$
  begin
    perform pg_advisory_xact_lock(hashtext('${renewName}'));
    if exists (select from %1$s as plant_feed where ${isOwn}) or not exists (select from %1$s) then
      return;
    end if;
    delete from ${feed};
    insert into %1$s (epoch, forgotten_up_to, system_identifier, timeline)
    values (gen_random_uuid(), '0', (select system_identifier from pg_control_system()), ${timeline});
  end
  $function$`),
  withFeed(`create or replace function ${forgetName}(key bigint, days text) returns bigint
  language plpgsql
  set citus.enable_manual_changes_to_shards = on
  ${ownPath}
  as $function$
  declare
    deletions text;
    forgotten bigint;
    last_number bigint;
    total bigint := 0;
  begin
    if not pg_try_advisory_xact_lock(hashtext('${forgetName}')) then return 0; end if;
    for deletions in select here.deletions from (${shardsHere}) as here loop
      execute format('
        with oldest as materialized (
          select changed_in, id from (
            values (''0''::xid8, $1), ($1, $2), ($2, ''${2n ** 64n - 1n}'')
          ) as log (first, beyond) cross join lateral (
            select changed_in, id, deleted_at from %%1$s
            where changed_in >= log.first and changed_in < log.beyond
            order by changed_in, id limit ${forgetStep}
          ) as deletion where deleted_at < now() - make_interval(days => $3)
        ), deleted as (
          delete from %%1$s as deletion using oldest
          where (deletion.changed_in, deletion.id) = (oldest.changed_in, oldest.id)
          returning deletion.changed_in
        ) select count(*), max(changed_in::text::bigint) filter (where changed_in >= $1 and changed_in < $2)
        from deleted', deletions)
      into forgotten, last_number
      using ${lowest}::text::xid8, (${lowest} + ${2n ** transactionBits})::text::xid8, days::int;
      total := total + forgotten;
      update %1$s as plant_feed set forgotten_up_to = last_number::text::xid8
      where system_identifier = (select system_identifier from pg_control_system())
        and forgotten_up_to < last_number::text::xid8;
    end loop;
    return total;
  end
  $function$`),
  ...[changesSignature, `${renewName}(bigint)`, `${forgetName}(bigint,text)`].map(
    (signature) =>
      `select create_distributed_function('${signature}', 'key', colocate_with := 'plants')`,
  ),
  // Gives each node a new epoch. A node that is down gets its epoch later, when an instance reads the feed.
  `select run_command_on_all_nodes(
    format('${callHere(`select 1 from %I.${renewName}(0)`)}', current_schema))`,
];
