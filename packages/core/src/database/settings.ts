import type { Statement, Step } from './port.ts';

/** PostgreSQL's settings, by their names. */
export type Settings = Readonly<Record<string, string>>;

const statements = new Map<number, Statement>();

/** Sets so many settings for one transaction; names and values are bound in turn. */
export function settingsStatement(count: number): Statement {
  const known = statements.get(count);
  if (known !== undefined) return known;
  const statement = { name: `pgway_settings_${count}`, sql: `select ${settingCalls(count, true).join(', ')}` };
  statements.set(count, statement);
  return statement;
}

/** What a connection pool sends before a session serves another client. */
export const discardAll: Step = { statement: { name: '', sql: 'discard all' }, values: [] };

/** Settings of the session; no step without any. */
export function sessionSettingsStep(settings: Settings): readonly Step[] {
  const names = Object.keys(settings);
  if (names.length === 0) return [];
  const sql = `select ${settingCalls(names.length, false).join(', ')}`;
  return [{ statement: { name: '', sql }, values: Object.entries(settings).flat() }];
}

/** The calls that make so many settings, for the transaction alone or for the session. */
export function settingCalls(count: number, local: boolean): readonly string[] {
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
export function settingsOfOptions(options: string): Settings | null {
  const settings: Record<string, string> = {};
  const rest = options.replace(option, (_, name: string, value: string) => {
    settings[name.replaceAll('-', '_')] = value.replace(/\\(.)/gs, '$1');
    return '';
  });
  return rest.trim() === '' ? settings : null;
}
