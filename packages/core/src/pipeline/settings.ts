import type { Statement, Step } from '../database/port.ts';

/** A session setting that lives as long as the call's transaction. */
export type Setting = readonly [name: string, value: string];

const statements = new Map<number, Statement>();

/** One statement for each number of settings: names and values are bound, so there are few of them. */
function statementFor(count: number): Statement {
  let statement = statements.get(count);
  if (statement === undefined) {
    const calls = Array.from(
      { length: count },
      (_, index) =>
        `pg_catalog.set_config($${index * 2 + 1}::pg_catalog.text, $${index * 2 + 2}::pg_catalog.text, true)`,
    );
    statement = { name: `pgway_settings_${count}`, sql: `select ${calls.join(', ')}` };
    statements.set(count, statement);
  }
  return statement;
}

/** The step that makes the settings, to travel before the routine's own in the same round trip and transaction. */
export function settingsStep(settings: readonly Setting[]): Step {
  return { statement: statementFor(settings.length), values: settings.flat() };
}
