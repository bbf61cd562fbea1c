/** The event triggers of `pgway install watch`: a notification for each change of the catalog that endpoints depend on. */
import { createHash } from 'node:crypto';

/** Where the triggers notify, and the schema of their function. */
export interface WatchTrigger {
  readonly channel: string;
  readonly schema: string;
}

/** Bytes; PostgreSQL truncates longer identifiers. */
export const maxNameLength = 63;

/** Changes of routines, tables, views, types, comments, privileges and schemas. The commands exist since PostgreSQL 13. */
const definitionTags = [
  'ALTER DOMAIN',
  'ALTER EXTENSION',
  'ALTER FOREIGN TABLE',
  'ALTER FUNCTION',
  'ALTER MATERIALIZED VIEW',
  'ALTER PROCEDURE',
  'ALTER ROUTINE',
  'ALTER RULE',
  'ALTER SCHEMA',
  'ALTER TABLE',
  'ALTER TRIGGER',
  'ALTER TYPE',
  'ALTER VIEW',
  'COMMENT',
  'CREATE DOMAIN',
  'CREATE EXTENSION',
  'CREATE FOREIGN TABLE',
  'CREATE FUNCTION',
  'CREATE MATERIALIZED VIEW',
  'CREATE PROCEDURE',
  'CREATE RULE',
  'CREATE SCHEMA',
  'CREATE TABLE',
  'CREATE TABLE AS',
  'CREATE TRIGGER',
  'CREATE TYPE',
  'CREATE VIEW',
  'GRANT',
  'IMPORT FOREIGN SCHEMA',
  'REVOKE',
  'SELECT INTO',
] as const;

const dropTags = [
  'DROP DOMAIN',
  'DROP EXTENSION',
  'DROP FOREIGN DATA WRAPPER',
  'DROP FOREIGN TABLE',
  'DROP FUNCTION',
  'DROP MATERIALIZED VIEW',
  'DROP OWNED',
  'DROP PROCEDURE',
  'DROP ROUTINE',
  'DROP RULE',
  'DROP SCHEMA',
  'DROP SERVER',
  'DROP TABLE',
  'DROP TRIGGER',
  'DROP TYPE',
  'DROP VIEW',
] as const;

/**
 * Returns the statements that create function and triggers, in place of earlier ones. `create or replace` would leave the function to an
 * owner who may change it, and whose code would run as each user who changes a definition.
 */
export function installStatements(trigger: WatchTrigger): readonly string[] {
  const { functionName, definitions, drops } = names(trigger);
  return [
    `create schema if not exists ${quoteIdentifier(trigger.schema)}`,
    ...uninstallStatements(trigger),
    `create function ${functionName}() returns event_trigger language plpgsql set search_path = pg_catalog, pg_temp as ${dollarQuote(functionBody(trigger.channel))}`,
    `comment on function ${functionName}() is 'Notifies pgway of changes of the catalog: pgway install watch.'`,
    createTrigger(definitions, 'ddl_command_end', { functionName, tags: definitionTags }),
    createTrigger(drops, 'sql_drop', { functionName, tags: dropTags }),
  ];
}

/** Returns the statements that drop triggers and function. The schema remains: it may have other objects. */
export function uninstallStatements(trigger: WatchTrigger): readonly string[] {
  const { functionName, definitions, drops } = names(trigger);
  return [
    `drop event trigger if exists ${definitions}`,
    `drop event trigger if exists ${drops}`,
    `drop function if exists ${functionName}()`,
  ];
}

/** Returns a query for the schema of the installed function. */
export function schemaQuery(channel: string): string {
  return `select n.nspname from pg_catalog.pg_event_trigger e
    join pg_catalog.pg_proc p on p.oid operator(pg_catalog.=) e.evtfoid
    join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) p.pronamespace
    where e.evtname operator(pg_catalog.=) ${quoteLiteral(`${baseName(channel)}${suffixes.definitions}`)}`;
}

const suffixes = { definitions: '_ddl', drops: '_drop' } as const;

/** Gateways with other channels in the database have other triggers. */
function baseName(channel: string): string {
  const name = `pgway_watch_${channel}`;
  const isTooLong = Buffer.byteLength(`${name}${suffixes.drops}`) > maxNameLength;
  return isTooLong ? `pgway_watch_${createHash('sha256').update(channel).digest('hex').slice(0, 32)}` : name;
}

function names({ channel, schema }: WatchTrigger): Readonly<Record<'functionName' | 'definitions' | 'drops', string>> {
  const base = baseName(channel);
  return {
    functionName: `${quoteIdentifier(schema)}.${quoteIdentifier(base)}`,
    definitions: quoteIdentifier(`${base}${suffixes.definitions}`),
    drops: quoteIdentifier(`${base}${suffixes.drops}`),
  };
}

function createTrigger(
  name: string,
  event: 'ddl_command_end' | 'sql_drop',
  { functionName, tags }: { readonly functionName: string; readonly tags: readonly string[] },
): string {
  const list = tags.map((tag) => `'${tag}'`).join(', ');
  return `create event trigger ${name} on ${event} when tag in (${list}) execute function ${functionName}()`;
}

/**
 * Temporary objects are not a change: calls may create them. Older versions say so of a table, and not of its defaults, which are dropped
 * with it. An error must not fail the command that fired the trigger.
 */
function functionBody(channel: string): string {
  return `
begin
  if tg_event = 'sql_drop' then
    if not exists (select from pg_event_trigger_dropped_objects() where original and not is_temporary) then
      return;
    end if;
  elsif not exists (select from pg_event_trigger_ddl_commands() where schema_name is distinct from 'pg_temp') then
    return;
  end if;
  perform pg_notify(${quoteLiteral(channel)}, tg_tag);
exception when others then
  raise warning 'pgway is not notified of %: %', tg_tag, sqlerrm;
end
`;
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns a literal that means the same whatever `standard_conforming_strings` is. */
function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return text.includes('\\') ? `E${quoted}` : quoted;
}

function dollarQuote(text: string): string {
  let tag = '$pgway$';
  for (let number = 1; text.includes(tag.slice(0, -1)); number++) tag = `$pgway${number}$`;
  return `${tag}${text}${tag}`;
}
