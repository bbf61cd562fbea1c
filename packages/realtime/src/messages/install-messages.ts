/** The table `realtime.messages` with its functions, which `pgway install realtime` creates. */
import { publicationName, quoteIdentifier } from '@pgway/core/internal';

/** Bytes of the payload of a message, as JSON. */
export const maxPayloadBytes: number = 256 * 1024;

/** Functions with the rights of the table's owner, which the gateway calls. */
const gatewayFunctions = [
  'realtime.insert_probes(uuid, uuid, text)',
  'realtime.read_messages(uuid[])',
  'realtime.prune_messages(integer)',
] as const;

/** Functions with the rights of their caller: policies of the table decide. */
const callerFunctions = [
  'realtime.topic()',
  'realtime.send(jsonb, text, text, boolean)',
  'realtime.broadcast_changes(text, text, text, text, text, record, record, text)',
  'realtime.check_policies(uuid, uuid, text)',
] as const;

/**
 * Returns the statements that create table and functions, for one transaction. They can run again: messages and policies stay.
 * @param roles those that gateways connect as, besides the owner of the objects, which is the role that runs the statements
 */
export function installRealtimeMessages(roles: readonly string[]): readonly string[] {
  const grantees = roles.map(quoteIdentifier).join(', ');
  return [
    schemaCreation,
    ownerCheck,
    table,
    'create index if not exists messages_inserted_at on realtime.messages (inserted_at)',
    // For joins that ask for earlier messages. The probes of joins are not in it.
    `create index if not exists messages_topic on realtime.messages (topic, inserted_at)
  where private and extension = 'broadcast' and event is not null`,
    'alter table realtime.messages enable row level security',
    'revoke all on realtime.messages from public',
    'grant usage on schema realtime to public',
    // Without a policy, row level security refuses both.
    'grant select, insert on realtime.messages to public',
    ...functions,
    `comment on table realtime.messages is 'Messages of realtime.send for clients of pgway. Its policies decide who may join and send in private channels.\ndisabled'`,
    ...[...gatewayFunctions, ...callerFunctions].map(
      (name) => `comment on function ${name} is 'Part of the messages of pgway.\ndisabled'`,
    ),
    ...gatewayFunctions.map((name) => `revoke all on function ${name} from public`),
    ...(roles.length === 0 ? [] : gatewayFunctions.map((name) => `grant execute on function ${name} to ${grantees}`)),
    publication,
  ];
}

/** Returns the statements that drop table and functions. Policies that call `realtime.topic()` end with the table. */
export function uninstallRealtimeMessages(): readonly string[] {
  return [
    'drop table if exists realtime.messages',
    ...[...gatewayFunctions, ...callerFunctions].map((name) => `drop function if exists ${name}`),
  ];
}

/** `create schema if not exists` needs a privilege on the database even for a schema that exists. */
const schemaCreation = `do $pgway$
begin
  if pg_catalog.to_regnamespace('realtime') is null then
    create schema realtime;
  end if;
end
$pgway$`;

/** Triggers of another owner would run with the rights of the functions' owner. */
const ownerCheck = `do $pgway$
begin
  if exists (
    select from pg_catalog.pg_class c
    where c.oid = pg_catalog.to_regclass('realtime.messages') and c.relowner <> (current_user::regrole)::oid
  ) then
    raise exception 'the table realtime.messages belongs to another role; drop it, or run the statements as its owner';
  end if;
end
$pgway$`;

const table = `create table if not exists realtime.messages (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  topic text not null,
  extension text not null default 'broadcast',
  event text,
  payload jsonb,
  private boolean not null default false,
  inserted_at timestamptz not null default pg_catalog.now(),
  updated_at timestamptz not null default pg_catalog.now(),
  constraint messages_payload_size check (pg_catalog.octet_length(payload::text) <= ${maxPayloadBytes})
)`;

/**
 * Functions with the rights of their caller have the `search_path` of the caller, which functions in policies may need. A failure of `send` is
 * a warning, as in Supabase: a trigger that sends must not make writes fail.
 */
const functions = [
  `create or replace function realtime.topic() returns text language sql stable as $pgway$
  select nullif(pg_catalog.current_setting('realtime.topic', true), '')
$pgway$`,
  `create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
language plpgsql volatile as $pgway$
begin
  perform pg_catalog.set_config('realtime.topic', topic, true);
  insert into realtime.messages (topic, extension, event, payload, private) values (topic, 'broadcast', event, payload, private);
exception when others then
  raise warning 'realtime.send: % (%)', sqlerrm, sqlstate;
end
$pgway$`,
  `create or replace function realtime.broadcast_changes(topic_name text, event_name text, operation text, table_name text, table_schema text,
  new record, old record, level text default 'ROW') returns void
language plpgsql volatile as $pgway$
begin
  if level is distinct from 'ROW' or operation not in ('INSERT', 'UPDATE', 'DELETE') then
    raise exception 'realtime.broadcast_changes: call it in a trigger for each row of insert, update or delete, not for % %', operation, level;
  end if;
  perform realtime.send(pg_catalog.jsonb_build_object('operation', operation, 'schema', table_schema, 'table', table_name,
    'record', pg_catalog.to_jsonb(new), 'old_record', pg_catalog.to_jsonb(old)), event_name, topic_name);
end
$pgway$`,
  `create or replace function realtime.insert_probes(broadcast_id uuid, presence_id uuid, probe_topic text) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $pgway$
  insert into realtime.messages (id, topic, extension, private)
  values (broadcast_id, probe_topic, 'broadcast', true), (presence_id, probe_topic, 'presence', true)
$pgway$`,
  // The answers to: may policies be skipped, broadcasts be received, presence be received, broadcasts be sent, presence be sent.
  `create or replace function realtime.check_policies(broadcast_id uuid, presence_id uuid, probe_topic text) returns boolean[]
language plpgsql volatile as $pgway$
declare
  answers boolean[];
  probe_extension text;
begin
  answers := array[not pg_catalog.row_security_active('realtime.messages'),
    exists (select from realtime.messages m where m.id = broadcast_id),
    exists (select from realtime.messages m where m.id = presence_id)];
  foreach probe_extension in array array['broadcast', 'presence'] loop
    begin
      insert into realtime.messages (topic, extension, private) values (probe_topic, probe_extension, true);
      answers := pg_catalog.array_append(answers, true);
    exception when insufficient_privilege then
      answers := pg_catalog.array_append(answers, false);
    end;
  end loop;
  return answers;
end
$pgway$`,
  `create or replace function realtime.read_messages(message_ids uuid[])
returns table (id uuid, topic text, event text, private boolean, payload jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp as $pgway$
  select m.id, m.topic, m.event, m.private, m.payload from realtime.messages m
  where m.id = any (message_ids) and m.extension = 'broadcast' and m.event is not null
$pgway$`,
  // Skips rows that another process deletes.
  `create or replace function realtime.prune_messages(maximum integer) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp as $pgway$
  with pruned as (
    delete from realtime.messages where id in (
      select m.id from realtime.messages m where m.inserted_at < now() - interval '1 hour'
        or m.inserted_at > now() + interval '1 hour'
      order by m.inserted_at limit maximum for update skip locked
    ) returning 1
  ) select count(*) from pruned
$pgway$`,
];

/** The log has the keys of messages alone, where the version of PostgreSQL can leave out other columns. */
const publication = `do $pgway$
declare
  columns text := case when current_setting('server_version_num')::integer >= 150000 then ' (id)' else '' end;
begin
  if not exists (select from pg_catalog.pg_publication where pubname = '${publicationName}') then
    execute 'create publication ${publicationName} for table realtime.messages' || columns || ' with (publish_via_partition_root = true)';
    comment on publication ${publicationName} is 'Keys of changed rows for pgway: pgway install changes.';
  elsif not exists (
    select from pg_catalog.pg_publication_tables
    where pubname = '${publicationName}' and schemaname = 'realtime' and tablename = 'messages'
  ) then
    execute 'alter publication ${publicationName} add table realtime.messages' || columns;
  end if;
end
$pgway$`;
