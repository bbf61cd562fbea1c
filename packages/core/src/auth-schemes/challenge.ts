import { arrayTexts } from '../http/json-reader.ts';
import type { Claim } from '../ports/ports.ts';
import type { ChallengeCommand } from './basic.ts';
import type { CommandRunner } from './command-runner.ts';

/** The names of the columns in a challenge command's row that are not claims. */
export interface ControlColumnNames {
  readonly statusColumnName: string;
  readonly messageColumnName: string;
  readonly schemeColumnName: string;
  readonly hashColumnName: string;
  /** A NULL hash means that the command has verified the password; otherwise the verification fails. */
  readonly allowNullHash: boolean;
}

/**
 * Returns a function that runs the command with the credentials, and reads its row like the row of a login. No row, a status other
 * than true or 200, and a NULL hash unless allowed refuse the credentials. Other columns are claims, one per element of an array.
 * The row is read as JSON, because its columns are not known before.
 */
export function challengeCommand(command: string, query: CommandRunner, names: ControlColumnNames): ChallengeCommand {
  // The line break ends a comment at the end of the command.
  const sql = `with challenge as (${command.replace(/[;\s]+$/, '')}
) select key, value::pg_catalog.text, pg_catalog.json_typeof(value)
from (select pg_catalog.row_to_json(challenge) as row from challenge limit 1) first, pg_catalog.json_each(first.row)`;
  const controlColumns = new Set([
    names.statusColumnName,
    names.messageColumnName,
    names.schemeColumnName,
    names.hashColumnName,
  ]);
  return async (user, password, realm, path) => {
    const rows = await query(sql, [user, password, realm, path]);
    if (rows.length === 0) return null;
    const status = rows.find(([name]) => name === names.statusColumnName)?.[1];
    if (status !== undefined && status !== 'true' && status !== '200') return null;
    const hash = rows.find(([name]) => name === names.hashColumnName);
    const [passwordHash = null] = hash === undefined ? [] : valuesOf(hash[1]!, hash[2]!);
    if (hash !== undefined && passwordHash === null && !names.allowNullHash) return null;
    return {
      hash: passwordHash,
      claims: rows.flatMap(([name, value, kind]) =>
        controlColumns.has(name!) ? [] : valuesOf(value!, kind!).map((text): Claim => [name!, text]),
      ),
    };
  };
}

function valuesOf(json: string, kind: string): readonly string[] {
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
