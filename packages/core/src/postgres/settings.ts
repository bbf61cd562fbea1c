import type { Statement, Step } from './port.ts';

/** PostgreSQL's settings, by their names. */
export type Settings = Readonly<Record<string, string>>;

const statements = new Map<string, Statement>();

/**
 * Sets so many settings for one transaction; names and values are bound in turn.
 * @param boundsTime the default `statement_timeout` as well, where the server has none
 */
export function setConfigStatement(count: number, boundsTime = false): Statement {
  const name = `pgway_settings_${count}${boundsTime ? '_bounded' : ''}`;
  const known = statements.get(name);
  if (known !== undefined) return known;
  const calls = [...setConfigCalls(count, true), ...(boundsTime ? [defaultTimeoutCall(true)] : [])];
  const statement = { name, sql: `select ${calls.join(', ')}` };
  statements.set(name, statement);
  return statement;
}

/** Milliseconds that a statement may take where neither the host nor the server says; what drivers of this field wait. */
export const defaultStatementTimeoutMs = 30_000;

/** Sets the default `statement_timeout`, for the transaction alone or for the session, where the server has none. */
export function defaultTimeoutCall(local: boolean): string {
  const current = `pg_catalog.current_setting('statement_timeout')`;
  const wanted = `case when ${current} operator(pg_catalog.=) '0' then '${defaultStatementTimeoutMs}' else ${current} end`;
  return `pg_catalog.set_config('statement_timeout', ${wanted}, ${local})`;
}

const milliseconds: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The milliseconds of a time as PostgreSQL shows settings: `0`, `1500ms`, `5min`. */
export function parseSettingMs(text: string): number {
  const [, amount = '0', unit = 'ms'] = /^(\d+)([a-z]*)$/.exec(text) ?? [];
  return Math.ceil(Number(amount) * (milliseconds[unit === '' ? 'ms' : unit] ?? 1));
}

/** What a connection pool sends before a session serves another client. */
export const discardAll: Step = { statement: { name: '', sql: 'discard all' }, values: [] };

/** Settings of the session; no step without any. */
export function setConfigSteps(settings: Settings): readonly Step[] {
  const names = Object.keys(settings);
  if (names.length === 0) return [];
  const sql = `select ${setConfigCalls(names.length, false).join(', ')}`;
  return [{ statement: { name: '', sql }, values: Object.entries(settings).flat() }];
}

/** The calls that make so many settings, for the transaction alone or for the session. */
export function setConfigCalls(count: number, local: boolean): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const [name, value] = [`$${index * 2 + 1}`, `$${index * 2 + 2}`];
    return `pg_catalog.set_config(${name}::pg_catalog.text, ${value}::pg_catalog.text, ${local})`;
  });
}

const option = /(?:^|\s)(?:-c\s*|--)([a-z_][a-z0-9_.-]*)=((?:\\.|[^\s\\])*)(?=\s|$)/gis;

/**
 * What start-up `options` (`-c name=value --other=value`) would set, for connections that cannot be started with them.
 * A backslash takes the next character as it is. Null: there is something else among them.
 */
export function parseStartupOptions(options: string): Settings | null {
  const settings: Record<string, string> = {};
  const rest = options.replace(option, (_, name: string, value: string) => {
    settings[name.replaceAll('-', '_')] = value.replace(/\\(.)/gs, '$1');
    return '';
  });
  return rest.trim() === '' ? settings : null;
}
