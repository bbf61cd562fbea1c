import type { Step } from '../../postgres/port.ts';

/** What routines set for the transaction, and later requests of a batch must not get: rights, objects behind names, the meaning of values. */
const names: readonly string[] = ['role', 'search_path', 'row_security', 'DateStyle', 'IntervalStyle', 'TimeZone'];

const copies = names.map((name, index) => [`'${name}'`, `'pgway.kept_${index}'`] as const);
const save = copies.map(([name, copy]) => `pg_catalog.set_config(${copy}, pg_catalog.current_setting(${name}), true)`);
const restore = copies.map(
  ([name, copy]) => `pg_catalog.set_config(${name}, pg_catalog.current_setting(${copy}), true)`,
);

/** The step at the beginning of a batch, which saves the settings. */
export const saveSettings: Step = { statement: { name: 'pgway_keep', sql: `select ${save.join(', ')}` }, values: [] };

/** The step after each call, which restores them. */
export const restoreSettings: Step = {
  statement: { name: 'pgway_restore', sql: `select ${restore.join(', ')}` },
  values: [],
};
