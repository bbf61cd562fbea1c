import type { CallSetting } from '../auth/context.ts';
import type { Step } from '../postgres/port.ts';
import { setConfigStatement } from '../postgres/settings.ts';

/** Returns the step that sets the settings, before the routine's step in the same round trip and transaction. */
export function settingsStep(settings: readonly CallSetting[]): Step {
  return { statement: setConfigStatement(settings.length), values: settings.flat() };
}

/**
 * Returns the steps for a call in a transaction that continues after it: one before the call, which saves the old values and sets the
 * new ones, and one after it, which restores the old values.
 */
export function restoringSettings(settings: readonly CallSetting[]): { readonly before: Step; readonly after: Step } {
  const set = (name: string, value: string): string => `pg_catalog.set_config(${name}, ${value}, true)`;
  const saved = settings.map((_, index) => `'pgway.saved_${index}'`);
  const name = (index: number): string => `$${index * 2 + 1}::pg_catalog.text`;
  const before = saved.flatMap((backup, index) => [
    set(backup, `coalesce(pg_catalog.current_setting(${name(index)}, true), '')`),
    set(name(index), `$${index * 2 + 2}::pg_catalog.text`),
  ]);
  // In reverse: a setting may occur twice.
  const after = saved
    .map((backup, index) => set(`$${index + 1}::pg_catalog.text`, `pg_catalog.current_setting(${backup})`))
    .toReversed();
  return {
    before: { statement: { name: '', sql: `select ${before.join(', ')}` }, values: settings.flat() },
    after: { statement: { name: '', sql: `select ${after.join(', ')}` }, values: settings.map(([key]) => key) },
  };
}
