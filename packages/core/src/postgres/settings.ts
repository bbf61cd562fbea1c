import type { Statement, Step } from './port.ts';

/** Values of PostgreSQL settings, by name. */
export type Settings = Readonly<Record<string, string>>;

const statements = new Map<string, Statement>();

/**
 * Returns a statement that makes settings for one transaction. Its parameters are name and value of each setting.
 * @param setsDefaultTimeout also applies the default `statement_timeout` where the server has none
 */
export function setConfigStatement(count: number, setsDefaultTimeout = false): Statement {
  const name = `pgway_settings_${count}${setsDefaultTimeout ? '_bounded' : ''}`;
  const cached = statements.get(name);
  if (cached !== undefined) return cached;
  const calls = [...setConfigCalls(count, true), ...(setsDefaultTimeout ? [defaultTimeoutCall(true)] : [])];
  const statement = { name, sql: `select ${calls.join(', ')}` };
  statements.set(name, statement);
  return statement;
}

/** Milliseconds; applies where neither the host nor the server sets a timeout. Other drivers have the same default. */
export const defaultStatementTimeoutMs = 30_000;

/** Returns an SQL expression that sets the default `statement_timeout` where the server has none. */
export function defaultTimeoutCall(local: boolean): string {
  const current = `pg_catalog.current_setting('statement_timeout')`;
  const value = `case when ${current} operator(pg_catalog.=) '0' then '${defaultStatementTimeoutMs}' else ${current} end`;
  return `pg_catalog.set_config('statement_timeout', ${value}, ${local})`;
}

const unitMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a time as PostgreSQL shows it (`0`, `1500ms`, `5min`) into milliseconds. */
export function parseSettingMs(text: string): number {
  const [, amount = '0', unit = 'ms'] = /^(\d+)([a-z]*)$/.exec(text) ?? [];
  return Math.ceil(Number(amount) * (unitMs[unit === '' ? 'ms' : unit] ?? 1));
}

/**
 * Makes the transaction read-only until its end. PostgreSQL runs `SET` without the executor, so that it costs less than `set_config`; it
 * initializes this variable at the start of each transaction.
 */
export const readOnlyStep: Step = {
  statement: { name: 'pgway_read_only', sql: 'set transaction_read_only = on' },
  values: [],
};

/** Resets a session for its next user. */
export const discardAll: Step = { statement: { name: '', sql: 'discard all' }, values: [] };

/** Returns the step that makes settings for the session; none for no settings. */
export function setConfigSteps(settings: Settings): readonly Step[] {
  const names = Object.keys(settings);
  if (names.length === 0) return [];
  const sql = `select ${setConfigCalls(names.length, false).join(', ')}`;
  return [{ statement: { name: '', sql }, values: Object.entries(settings).flat() }];
}

/** Returns `set_config` calls for `count` settings; with `local`, for the transaction only. */
export function setConfigCalls(count: number, local: boolean): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const [name, value] = [`$${index * 2 + 1}`, `$${index * 2 + 2}`];
    return `pg_catalog.set_config(${name}::pg_catalog.text, ${value}::pg_catalog.text, ${local})`;
  });
}

const optionPattern = /(?:^|\s)(?:-c\s*|--)([a-z_][a-z0-9_.-]*)=((?:\\.|[^\s\\])*)(?=\s|$)/gis;

/**
 * Parses start-up `options` (`-c name=value --other=value`) into settings, for poolers that do not accept them.
 * A backslash escapes the next character. Returns null for options that are not settings.
 */
export function parseStartupOptions(options: string): Settings | null {
  const settings: Record<string, string> = {};
  const rest = options.replace(optionPattern, (_, name: string, value: string) => {
    settings[name.replaceAll('-', '_')] = value.replace(/\\(.)/gs, '$1');
    return '';
  });
  return rest.trim() === '' ? settings : null;
}
