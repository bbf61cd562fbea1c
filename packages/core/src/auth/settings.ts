import type { Step } from '../postgres/port.ts';
import { setConfigStatement } from '../postgres/settings.ts';

/** A session setting that lives as long as the call's transaction. */
export type Setting = readonly [name: string, value: string];

/** The step that makes the settings, to travel before the routine's own in the same round trip and transaction. */
export function settingsStep(settings: readonly Setting[]): Step {
  return { statement: setConfigStatement(settings.length), values: settings.flat() };
}

/**
 * The settings for a call in a transaction that goes on afterwards: the step before it, which keeps what was there, and the
 * step behind it, which brings that back.
 */
export function restoringSettings(settings: readonly Setting[]): { readonly before: Step; readonly after: Step } {
  const set = (name: string, value: string): string => `pg_catalog.set_config(${name}, ${value}, true)`;
  const kept = settings.map((_, index) => `'pgway.kept_${index}'`);
  const name = (index: number): string => `$${index * 2 + 1}::pg_catalog.text`;
  const before = kept.flatMap((place, index) => [
    set(place, `coalesce(pg_catalog.current_setting(${name(index)}, true), '')`),
    set(name(index), `$${index * 2 + 2}::pg_catalog.text`),
  ]);
  // The last first: a setting may have been made twice.
  const after = kept
    .map((place, index) => set(`$${index + 1}::pg_catalog.text`, `pg_catalog.current_setting(${place})`))
    .toReversed();
  return {
    before: { statement: { name: '', sql: `select ${before.join(', ')}` }, values: settings.flat() },
    after: { statement: { name: '', sql: `select ${after.join(', ')}` }, values: settings.map(([key]) => key) },
  };
}
