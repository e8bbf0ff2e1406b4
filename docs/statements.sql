-- plants: countPlants
select count(*)::text from (select 1 from plants where true limit 1000001) as found;

-- plants: countPlantsOfTag
select count(*)::text from (select 1 from plants where
hashtextextended(tag, 0) = hashtextextended($1::text, 0) and case when tag = $1::text then true end limit 1000001) as found;

-- plants: deletePlants
with deleted as (
  delete from plants
  where id = any($1::bigint[])
    and coalesce(changed_in::text =
      any(string_to_array(($2::text[])[array_position($1::bigint[], id)], ',')), true)
  returning id, name, tag, created_at, updated_at, created_in
), noted as (
  insert into plant_deletions (id, name, tag, created_at, updated_at, created_in)
  select id, name, tag, created_at, updated_at, created_in from deleted
)
select
  case when clock_timestamp() < $3::timestamptz then ids else ('the deadline of this write has passed: ' || clock_timestamp())::bigint::text end,
  (select json_object_agg(id, changed_in)::text from plants
    where id = any($1::bigint[]) and id <> all(ids::bigint[])),
  pg_logical_emit_message(true, 'plant-store', '')
from (select coalesce(array_agg(id)::text, '{}') as ids from deleted) as done;

-- plants: findDurable
select
(json_agg(id) filter (where true))::text,
(json_agg(name) filter (where true))::text,
(json_agg(tag) filter (where true))::text,
(json_agg(created_at at time zone interval '0') filter (where true))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where true))::text end, pg_logical_emit_message(true, 'plant-store', '') from plants where id = any($1::bigint[]);

-- plants: findNothing
select id, name, tag, created_at, updated_at from plants where false;

-- plants: findPlants
select
(json_agg(id) filter (where true))::text,
(json_agg(name) filter (where true))::text,
(json_agg(tag) filter (where true))::text,
(json_agg(created_at at time zone interval '0') filter (where true))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where true))::text end, json_agg(changed_in)::text from plants where id = any($1::bigint[]);

-- plants: insertPlants
with inserted as (
  insert into plants (id, name, tag)
  select * from unnest($1::bigint[], $2::text[], $3::text[])
  on conflict (id) do nothing
  returning id
)
select case when clock_timestamp() < $4::timestamptz
  then coalesce(array_agg(id)::text, '{}') else ('the deadline of this write has passed: ' || clock_timestamp())::bigint::text end
from inserted;

-- plants: replacePlant
with replaced as (
  update plants set name = $2, tag = $3, changed_in = pg_current_xact_id(), updated_at = now()
  where id = $1::bigint and coalesce(changed_in = any($4::xid8[]), true)
  returning *
)
select
  case when clock_timestamp() < $5::timestamptz
    then (select changed_in::text from plants where id = $1::bigint) else ('the deadline of this write has passed: ' || clock_timestamp())::bigint::text end,
  pg_logical_emit_message(true, 'plant-store', ''), done.*
from (select
(json_agg(id) filter (where true))::text,
(json_agg(name) filter (where true))::text,
(json_agg(tag) filter (where true))::text,
(json_agg(created_at at time zone interval '0') filter (where true))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where true))::text end, json_agg(changed_in)::text from replaced) as done;

-- plants: searchPageOfAll
select count(*)::int,
(json_agg(id) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(name) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(tag) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(created_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text end,
  case when count(*) <= $2::int then (
    select max(id)::text from (
      select id from plants
      where id >= $1::bigint and true order by id limit 100000
    ) as compared having count(*) = 100000
  ) end
from (
  select *, row_number() over in_order as place, sum(octet_length(name) + coalesce(octet_length(tag), 0)) over in_order as bytes
  from (
    select * from (
      select id, name, tag, created_at, updated_at from plants
      where id >= $1::bigint and true order by id limit 100000
    ) as compared
    where lower(name) like all(
      (select array_agg(lower(word)) from unnest($3::text[]) as word)::text[])
    order by id limit $2::int + 1
  ) as found
  window in_order as (order by id rows unbounded preceding)
  order by id
) as found;

-- plants: searchPageOfTag
select count(*)::int,
(json_agg(id) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(name) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(tag) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(created_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text end,
  case when count(*) <= $2::int then (
    select max(id)::text from (
      select id from plants
      where id >= $1::bigint and
hashtextextended(tag, 0) = hashtextextended($4::text, 0) and case when tag = $4::text then true end order by id limit 100000
    ) as compared having count(*) = 100000
  ) end
from (
  select *, row_number() over in_order as place, sum(octet_length(name) + coalesce(octet_length(tag), 0)) over in_order as bytes
  from (
    select * from (
      select id, name, tag, created_at, updated_at from plants
      where id >= $1::bigint and
hashtextextended(tag, 0) = hashtextextended($4::text, 0) and case when tag = $4::text then true end order by id limit 100000
    ) as compared
    where lower(name) like all(
      (select array_agg(lower(word)) from unnest($3::text[]) as word)::text[])
    order by id limit $2::int + 1
  ) as found
  window in_order as (order by id rows unbounded preceding)
  order by id
) as found;

-- plants: selectPageOfAll
select count(*)::int,
(json_agg(id) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(name) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(tag) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(created_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text end,
  null
from (
  select *, row_number() over in_order as place, sum(octet_length(name) + coalesce(octet_length(tag), 0)) over in_order as bytes
  from (
    select id, name, tag, created_at, updated_at from plants where id >= $1::bigint and true
    order by id limit $2::int + 1
  ) as found
  window in_order as (order by id rows unbounded preceding)
  order by id
) as found;

-- plants: selectPageOfTag
select count(*)::int,
(json_agg(id) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(name) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(tag) filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
(json_agg(created_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where place <= $2::int and (bytes <= 1048576 or place = 1)))::text end,
  null
from (
  select *, row_number() over in_order as place, sum(octet_length(name) + coalesce(octet_length(tag), 0)) over in_order as bytes
  from (
    select id, name, tag, created_at, updated_at from plants where id >= $1::bigint and
hashtextextended(tag, 0) = hashtextextended($3::text, 0) and case when tag = $3::text then true end
    order by id limit $2::int + 1
  ) as found
  window in_order as (order by id rows unbounded preceding)
  order by id
) as found;

-- plants: selectPagesOfAll
select page.*
from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (lowest, tag, place)
cross join lateral (
  select coalesce(bool_and(is_small), true),
(json_agg(id) filter (where is_small))::text,
(json_agg(name) filter (where is_small))::text,
(json_agg(tag) filter (where is_small))::text,
(json_agg(created_at at time zone interval '0') filter (where is_small))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where is_small))::text end
  from (
    select * from (
      select id, name, tag, created_at, updated_at, octet_length(name) + coalesce(octet_length(tag), 0) <= (select $4::int) as is_small
      from plants where id >= asked.lowest and true order by id limit (select $3::int) + 1
    ) as found
    order by id limit 1001
  ) as found
) as page
order by place;

-- plants: selectPagesOfTag
select page.*
from unnest((select $1::bigint[]), (select $2::text[])) with ordinality as asked (lowest, tag, place)
cross join lateral (
  select coalesce(bool_and(is_small), true),
(json_agg(id) filter (where is_small))::text,
(json_agg(name) filter (where is_small))::text,
(json_agg(tag) filter (where is_small))::text,
(json_agg(created_at at time zone interval '0') filter (where is_small))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where is_small))::text end
  from (
    select * from (
      select id, name, tag, created_at, updated_at, octet_length(name) + coalesce(octet_length(tag), 0) <= (select $4::int) as is_small
      from plants where id >= asked.lowest and
hashtextextended(tag, 0) = hashtextextended(asked.tag, 0) and case when tag = asked.tag then true end order by id limit (select $3::int) + 1
    ) as found
    order by id limit 1001
  ) as found
) as page
order by place;

-- changes: beginFeed
insert into plant_feed (epoch) select gen_random_uuid()
where not exists (select from plant_feed);

-- changes: forgetDeletions
with oldest as materialized (
  select changed_in, id, deleted_at from plant_deletions
  where (select pg_try_advisory_xact_lock(hashtext('plant-store forget')))
  order by changed_in, id limit $2::int
), old as materialized (
  select changed_in, id from oldest where deleted_at < now() - make_interval(days => $1::int)
), forgotten as (
  delete from plant_deletions using old
  where (plant_deletions.changed_in, plant_deletions.id) = (old.changed_in, old.id) returning old.id
), moved as (
  update plant_feed set forgotten_up_to = last.changed_in
  from (select changed_in from old order by changed_in desc limit 1) as last
  where forgotten_up_to < last.changed_in
) select count(*)::text from forgotten;

-- changes: forgetForeignDeletions
with renewed as (
  update plant_feed set system_identifier = default, forgotten_up_to = default
  where system_identifier <> (select system_identifier from pg_control_system())
  returning epoch
)
delete from plant_deletions where exists (select from renewed);

-- changes: selectChanges
with feed as materialized (
  select
    left(md5(concat_ws(' ', plant_feed.epoch, (select system_identifier from pg_control_system()),
      left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
      (select oid from pg_database where datname = current_database()),
      pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'))), 16) as epoch,
    forgotten_up_to,
    pg_snapshot_xmin(pg_current_snapshot()) as up_to,
    pg_snapshot_xmax(pg_current_snapshot()) as started
  from plant_feed limit 1
), candidates as (
  (select case when updated_at is null then 'created' else 'updated' end as type, id, name, tag, created_at, updated_at, changed_in
    from plants where
    changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint)
    and (changed_in, id) < ((select up_to from feed), -9223372036854775808)
    order by changed_in, id limit $3::int + 1)
  union all
  (select 'deleted', id, name, tag, created_at, updated_at, changed_in
    from plant_deletions as deleted where
    changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint)
    and (changed_in, id) < ((select up_to from feed), -9223372036854775808)
    and not exists (select from plants
      where plants.id = deleted.id and plants.created_in <= deleted.changed_in)
    and not exists (select from plant_deletions as later
      where later.id = deleted.id and later.changed_in > deleted.changed_in
        and later.created_in <= deleted.changed_in)
    order by changed_in, id limit $3::int + 1)
  order by changed_in, id limit $3::int + 1
), measured as (
  select *, row_number() over in_order as place,
    sum(least(octet_length(name) + coalesce(octet_length(tag), 0), 1048576)) over in_order as bytes
  from candidates window in_order as (order by changed_in, id rows unbounded preceding)
)
select
  json_build_object('epoch', epoch, 'forgottenUpTo', forgotten_up_to::text, 'upTo', up_to::text,
    'candidates', (select count(*) from candidates),
    'isHeldBack', exists (
      (select 1 from plants where changed_in >= (select up_to from feed)
        and changed_in < (select started from feed)
        order by changed_in limit 1)
      union all
      (select 1 from plant_deletions where changed_in >= (select up_to from feed)
        and changed_in < (select started from feed)
        order by changed_in limit 1)),
    'latest', case when $1::xid8 is null then (
      select changed_in::text from (
        (select changed_in from plants where changed_in < (select up_to from feed)
          order by changed_in desc limit 1)
        union all
        (select changed_in from plant_deletions where changed_in < (select up_to from feed)
          order by changed_in desc limit 1)
        union all select forgotten_up_to from feed
      ) as latest order by latest.changed_in desc limit 1) end)::text,
  page.*
from feed cross join (
  select json_agg(changed_in::text)::text, json_agg(type)::text,
(json_agg(id) filter (where true))::text,
(json_agg(name) filter (where true))::text,
(json_agg(tag) filter (where true))::text,
(json_agg(created_at at time zone interval '0') filter (where true))::text,
case when count(updated_at) > 0
  then (json_agg(updated_at at time zone interval '0') filter (where true))::text end
  from (
    select * from measured where place <= $3::int and (bytes <= 1048576 or place = 1)
    order by place
  ) as page
) as page;

-- changes: selectFirstSince
(select changed_in::text from plants where coalesce(updated_at, created_at) >= $1::timestamptz
  order by changed_in limit 1)
union all
(select changed_in::text from plant_deletions where deleted_at >= $1::timestamptz
  order by changed_in limit 1);

-- webhooks: beginMessage
update webhooks set message_id = $3, to_transaction = $4::xid8, to_id = $5::bigint
where name = $1 and due_at = $2::text::timestamptz
returning row_to_json(webhooks)::text;

-- webhooks: claimWebhook
with due as (
  select name from webhooks
  where paused_at is null and due_at <= clock_timestamp() and (message_id is not null
    or epoch <> $1 or (transaction, last_id) < ($2::xid8, $3::bigint))
  order by due_at limit 1 for update skip locked
)
update webhooks set due_at = clock_timestamp() + interval '60 seconds'
from due where webhooks.name = due.name
returning row_to_json(webhooks)::text;

-- webhooks: countFailing
select count(*)::text from webhooks
where paused_because is not null or (paused_at is null and failures > 0);

-- webhooks: deleteWebhook
delete from webhooks where name = $1 returning row_to_json(webhooks)::text;

-- webhooks: findWebhook
select row_to_json(webhooks)::text from webhooks where name = $1;

-- webhooks: hasActiveWebhook
select name from webhooks where paused_at is null limit 1;

-- webhooks: insertWebhook
insert into webhooks (name, url, secret, epoch, transaction, last_id)
values ($1, $2, $3, $4, $5::xid8, $6::bigint)
on conflict (name) do nothing
returning row_to_json(webhooks)::text;

-- webhooks: listWebhooks
select row_to_json(webhooks)::text from webhooks where name > $1 order by name limit $2::int;

-- webhooks: pauseWebhook
update webhooks set paused_at = coalesce(paused_at, clock_timestamp()) where name = $1
returning row_to_json(webhooks)::text;

-- webhooks: releaseWebhook
update webhooks set due_at = clock_timestamp() where name = $1 and due_at = $2::text::timestamptz
returning row_to_json(webhooks)::text;

-- webhooks: replayWebhook
update webhooks set epoch = $2, transaction = $3::xid8, last_id = $4::bigint, message_id = null,
  failures = 0, due_at = clock_timestamp()
where name = $1
returning row_to_json(webhooks)::text;

-- webhooks: resumeWebhook
update webhooks set paused_at = null, paused_because = null, failures = 0, due_at = clock_timestamp()
where name = $1
returning row_to_json(webhooks)::text;

-- webhooks: rotateSecret
update webhooks set secret = $2 where name = $1 returning row_to_json(webhooks)::text;

-- webhooks: saveFailure
update webhooks set failures = failures + 1,
  due_at = clock_timestamp() + make_interval(secs => $3::float8),
  paused_at = case when $4::text is not null then clock_timestamp() end, paused_because = $4,
  last_attempt = $5::text::jsonb
where name = $1 and due_at = $2::text::timestamptz
returning row_to_json(webhooks)::text;

-- webhooks: savePosition
update webhooks set epoch = $3, transaction = $4::xid8, last_id = $5::bigint, message_id = null,
  failures = 0, due_at = clock_timestamp(), last_attempt = coalesce($6::text::jsonb, last_attempt)
where name = $1 and due_at = $2::text::timestamptz
returning row_to_json(webhooks)::text;
