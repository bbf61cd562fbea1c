import { arrayTexts } from '../http/json-reader.ts';
import type { Claim } from '../ports/ports.ts';
import type { CommandRunner } from './command-runner.ts';

/** The first row of a command whose columns are not known before it runs. */
export interface CommandRow {
  /** Returns the values of a column as text: none for NULL, one per element of an array; undefined without the column. */
  values(column: string): readonly string[] | undefined;
  /** Returns a claim for each value of the columns, except these. */
  claims(except: ReadonlySet<string>): readonly Claim[];
}

/** Runs a command of the host with text parameters; null: it returned no row. */
export type RowCommand = (values: readonly (string | null)[]) => Promise<CommandRow | null>;

/** Returns a function that runs the command and reads its first row. The row is read as JSON, because its columns are not known before. */
export function rowCommand(command: string, query: CommandRunner): RowCommand {
  // The line break ends a comment at the end of the command.
  const sql = `with command as (${command.replace(/[;\s]+$/, '')}
) select key, value::pg_catalog.text, pg_catalog.json_typeof(value)
from (select pg_catalog.row_to_json(command) as row from command limit 1) first, pg_catalog.json_each(first.row)`;
  return async (values) => {
    const columns = await query(sql, values);
    return columns.length === 0 ? null : toRow(columns as readonly Column[]);
  };
}

type Column = readonly [name: string, json: string, kind: string];

function toRow(columns: readonly Column[]): CommandRow {
  return {
    values: (name) => {
      const column = columns.find(([key]) => key === name);
      return column === undefined ? undefined : valuesOf(column);
    },
    claims: (except) =>
      columns.flatMap((column) =>
        except.has(column[0]) ? [] : valuesOf(column).map((text): Claim => [column[0], text]),
      ),
  };
}

function valuesOf([, json, kind]: Column): readonly string[] {
  switch (kind) {
    case 'null':
      return [];
    case 'string':
      return [JSON.parse(json) as string];
    case 'array':
      return arrayTexts(json);
    default:
      return [json];
  }
}
