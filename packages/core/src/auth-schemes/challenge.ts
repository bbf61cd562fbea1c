import { arrayTexts } from '../http/json-reader.ts';
import type { Claim } from '../ports/ports.ts';
import type { ChallengeCommand } from './basic.ts';
import type { CommandRunner } from './command-runner.ts';

/** How a command's row is read: the columns that steer a sign-in, by name. */
export interface ControlColumnNames {
  readonly statusColumnName: string;
  readonly messageColumnName: string;
  readonly schemeColumnName: string;
  readonly hashColumnName: string;
  /** A NULL hash means that the command has verified the password itself; otherwise the row is nobody. */
  readonly allowNullHash: boolean;
}

/**
 * Asks the database who the credentials stand for. The command's row is read as that of a login: without one, or with a status that
 * is not true or 200, it is nobody; a hash has to be that of the password, and a NULL one is nobody's unless that is allowed; other columns are claims, an array one for
 * each element. The row comes as JSON, since its columns are known to the command alone.
 */
export function challengeCommand(command: string, query: CommandRunner, names: ControlColumnNames): ChallengeCommand {
  // The break ends a comment that the command may end with.
  const sql = `with challenge as (${command.replace(/[;\s]+$/, '')}
) select key, value::pg_catalog.text, pg_catalog.json_typeof(value)
from (select pg_catalog.row_to_json(challenge) as row from challenge limit 1) one, pg_catalog.json_each(one.row)`;
  const steering = new Set([
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
    const [known = null] = hash === undefined ? [] : valuesOf(hash[1]!, hash[2]!);
    if (hash !== undefined && known === null && !names.allowNullHash) return null;
    return {
      hash: known,
      claims: rows.flatMap(([name, value, kind]) =>
        steering.has(name!) ? [] : valuesOf(value!, kind!).map((text): Claim => [name!, text]),
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
