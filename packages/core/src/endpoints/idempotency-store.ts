/** The table of idempotency keys with its functions, which `pgway install idempotency` creates. */
import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';

/** SQLSTATEs that the functions raise. Classes from I to Z are free for such use (PostgreSQL manual, "Error Message Fields"). */
export const idempotencyStates: Readonly<Record<'repeated' | 'reused' | 'running' | 'unavailable', string>> =
  Object.freeze({
    /** The request has succeeded before. */
    repeated: 'IK001',
    /** Another request had the same key. */
    reused: 'IK002',
    /** A request with the key is running. */
    running: 'IK003',
    /** The response was too large to be stored, has expired, or has other columns than the endpoint has now. */
    unavailable: 'IK004',
  });

/** The names of the routines, which are not endpoints. */
const routineNames = {
  claim: 'claim_idempotency_key',
  saveRows: 'save_idempotent_rows',
  saveSettings: 'save_idempotent_settings',
  readRows: 'read_idempotent_rows',
  prune: 'prune_idempotency_keys',
} as const;

const tableName = 'idempotency_key';

/** The parameter types, as `drop function` and `grant` need them. */
const signatures: Readonly<Record<keyof typeof routineNames, string>> = {
  claim: 'bytea, bytea, bytea, double precision',
  saveRows: 'bytea, text',
  saveSettings: 'bytea',
  readRows: 'bytea, bytea',
  prune: 'integer',
};

/** The qualified and quoted names of the routines in a schema. */
export function idempotencyRoutines(schema: string): Readonly<Record<keyof typeof routineNames, string>> {
  const qualify = (name: string): string => `${quoteIdentifier(schema)}.${name}`;
  return {
    claim: qualify(routineNames.claim),
    saveRows: qualify(routineNames.saveRows),
    saveSettings: qualify(routineNames.saveSettings),
    readRows: qualify(routineNames.readRows),
    prune: qualify(routineNames.prune),
  };
}

/** Whether a routine is one of the store, which is not an endpoint, whatever `commentsMode` is. */
export function isIdempotencyRoutine(
  routine: { readonly schema: string; readonly name: string },
  schema: string,
): boolean {
  return routine.schema === schema && (Object.values(routineNames) as readonly string[]).includes(routine.name);
}

/** Returns an SQL expression: whether the current role may execute all routines. Null without one of them. */
export function idempotencyPrivilege(schema: string): string {
  const routines = idempotencyRoutines(schema);
  const checks = (Object.keys(signatures) as (keyof typeof signatures)[]).map(
    (key) =>
      `pg_catalog.has_function_privilege(pg_catalog.to_regprocedure(${quoteLiteral(`${routines[key]}(${signatures[key]})`)}), 'EXECUTE')`,
  );
  return `${checks.join(' and ')} and pg_catalog.has_schema_privilege(pg_catalog.to_regnamespace(${quoteLiteral(quoteIdentifier(schema))}), 'USAGE')`;
}

export interface IdempotencyInstallation {
  readonly schema: string;
  /** The roles that may use the store, besides its owner: that of the connection, and those of callers with `databaseRole`. */
  readonly roles: readonly string[];
}

/**
 * Returns the statements that create the store, for one transaction. They can run again: the keys stay. The functions are `security definer`,
 * so that callers have no privilege on the table.
 */
export function installIdempotency({ schema, roles }: IdempotencyInstallation): readonly string[] {
  const routines = idempotencyRoutines(schema);
  const table = `${quoteIdentifier(schema)}.${tableName}`;
  const signed = (Object.keys(signatures) as (keyof typeof signatures)[]).map(
    (key) => `${routines[key]}(${signatures[key]})`,
  );
  const grantees = roles.map(quoteIdentifier).join(', ');
  return [
    schemaCreation(schema),
    ownerCheck(table),
    `create table if not exists ${table} (
  id bytea primary key,
  fingerprint bytea not null,
  shape bytea not null,
  expires_at timestamptz not null,
  rows text default '[]',
  status text,
  headers text
)`,
    `create index if not exists idempotency_key_expires_at on ${table} (expires_at)`,
    `alter table ${table} enable row level security`,
    `revoke all on ${table} from public`,
    `comment on table ${table} is 'Idempotency keys of pgway, with the rows of their responses. A key is stored as its hash.'`,
    ...signed.map((name) => `drop function if exists ${name}`),
    createFunction(
      `${routines.claim}(key_id bytea, key_fingerprint bytea, key_shape bytea, lifetime_ms double precision) returns void`,
      claimBody(table),
    ),
    createFunction(
      `${routines.saveRows}(key_id bytea, result_rows text) returns boolean`,
      saveBody(table, 'rows = result_rows'),
    ),
    createFunction(
      `${routines.saveSettings}(key_id bytea) returns boolean`,
      saveBody(
        table,
        `status = current_setting('response.status', true), headers = current_setting('response.headers', true)`,
      ),
    ),
    createFunction(`${routines.readRows}(key_id bytea, key_shape bytea) returns json`, readBody(table)),
    createFunction(`${routines.prune}(maximum integer) returns integer`, pruneBody(table)),
    ...signed.map((name) => `comment on function ${name} is 'Part of the idempotency keys of pgway.'`),
    ...signed.map((name) => `revoke all on function ${name} from public`),
    ...(roles.length === 0
      ? []
      : [
          `grant usage on schema ${quoteIdentifier(schema)} to ${grantees}`,
          ...signed.map((name) => `grant execute on function ${name} to ${grantees}`),
        ]),
  ];
}

/** Returns the statements that drop the store with its keys. The schema remains: it may have other objects. */
export function uninstallIdempotency(schema: string): readonly string[] {
  const routines = idempotencyRoutines(schema);
  const keys = Object.keys(signatures) as (keyof typeof signatures)[];
  return [
    ...keys.map((key) => `drop function if exists ${routines[key]}(${signatures[key]})`),
    `drop table if exists ${quoteIdentifier(schema)}.${tableName}`,
  ];
}

/** `create schema if not exists` needs a privilege on the database even for a schema that exists. */
function schemaCreation(schema: string): string {
  const name = quoteIdentifier(schema);
  return `do ${dollarQuote(`
begin
  if pg_catalog.to_regnamespace(${quoteLiteral(name)}) is null then
    create schema ${name};
  end if;
end
`)}`;
}

/** Triggers of another owner would run with the rights of the functions' owner. */
function ownerCheck(table: string): string {
  return `do ${dollarQuote(`
begin
  if exists (
    select from pg_catalog.pg_class c
    where c.oid = pg_catalog.to_regclass(${quoteLiteral(table)}) and c.relowner <> (current_user::regrole)::oid
  ) then
    raise exception 'the table % belongs to another role; drop it, or run the statements as its owner', ${quoteLiteral(table)};
  end if;
end
`)}`;
}

function createFunction(head: string, body: string): string {
  return `create function ${head} language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as ${dollarQuote(body)}`;
}

function dollarQuote(text: string): string {
  let tag = '$pgway$';
  for (let number = 1; text.includes(tag.slice(0, -1)); number++) tag = `$pgway${number}$`;
  return `${tag}${text}${tag}`;
}

/**
 * The lock is that of the running request: a concurrent one fails at once, and does not wait for it. The lock ends with the transaction, and
 * each statement after it sees what the transaction has committed.
 */
function claimBody(table: string): string {
  return `
declare
  is_same boolean;
begin
  if not pg_try_advisory_xact_lock(('x' || encode(substring(key_id for 8), 'hex'))::bit(64)::bigint) then
    raise exception 'a request with this idempotency key is running' using errcode = '${idempotencyStates.running}';
  end if;
  select k.fingerprint = key_fingerprint into is_same from ${table} k where k.id = key_id and k.expires_at > now();
  if is_same then
    raise exception 'a request with this idempotency key has succeeded' using errcode = '${idempotencyStates.repeated}';
  elsif not is_same then
    raise exception 'another request had this idempotency key' using errcode = '${idempotencyStates.reused}';
  end if;
  insert into ${table} (id, fingerprint, shape, expires_at)
    values (key_id, key_fingerprint, key_shape, now() + lifetime_ms * interval '1 millisecond')
    on conflict (id) do update set fingerprint = excluded.fingerprint, shape = excluded.shape,
      expires_at = excluded.expires_at, rows = excluded.rows, status = null, headers = null;
end
`;
}

/**
 * Only the transaction that has claimed the key can save. Its rows are those it sees with an `xmin` in progress: its own number, or, after
 * savepoints, a later one.
 */
function saveBody(table: string, assignments: string): string {
  return `
declare
  own bigint := pg_current_xact_id()::text::bigint;
begin
  update ${table} set ${assignments} where id = key_id
    and case when ((xmin::text::bigint - own) & 4294967295) < 2147483648
      then pg_xact_status((own + ((xmin::text::bigint - own) & 4294967295))::text::xid8) = 'in progress'
      else false end;
  if not found then
    raise exception 'this transaction has not claimed the idempotency key';
  end if;
  return true;
end
`;
}

function readBody(table: string): string {
  return `
declare
  k record;
begin
  select t.rows, t.status, t.headers into k from ${table} t
    where t.id = key_id and t.shape = key_shape and t.expires_at > now();
  if not found or k.rows is null then
    raise exception 'the response is not stored' using errcode = '${idempotencyStates.unavailable}';
  end if;
  perform set_config('response.status', coalesce(k.status, ''), true), set_config('response.headers', coalesce(k.headers, ''), true);
  return k.rows::json;
end
`;
}

/** Skips rows that another process deletes. */
function pruneBody(table: string): string {
  return `
declare
  deleted integer;
begin
  delete from ${table} where id in (
    select k.id from ${table} k where k.expires_at <= now() order by k.expires_at limit maximum for update skip locked
  );
  get diagnostics deleted = row_count;
  return deleted;
end
`;
}
