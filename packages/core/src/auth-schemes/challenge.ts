import type { ChallengeCommand } from './basic.ts';
import { rowCommand } from './command-row.ts';
import type { CommandRunner } from './command-runner.ts';

/** The names of the columns in a command's row that are not claims. */
export interface ControlColumnNames {
  readonly statusColumnName: string;
  readonly messageColumnName: string;
  readonly schemeColumnName: string;
  readonly hashColumnName: string;
  /** A NULL hash means that the command has verified the password; otherwise the verification fails. */
  readonly allowNullHash: boolean;
}

/** Returns the columns of a login row that are not claims. */
export function controlColumnsOf(names: ControlColumnNames): ReadonlySet<string> {
  return new Set([names.statusColumnName, names.messageColumnName, names.schemeColumnName, names.hashColumnName]);
}

/**
 * Returns a function that runs the command with the credentials, and reads its row like the row of a login. No row, a status other
 * than true or 200, and a NULL hash unless allowed refuse the credentials. Other columns are claims, one per element of an array.
 */
export function challengeCommand(command: string, query: CommandRunner, names: ControlColumnNames): ChallengeCommand {
  const run = rowCommand(command, query);
  const controlColumns = controlColumnsOf(names);
  return async (user, password, realm, path) => {
    const row = await run([user, password, realm, path]);
    if (row === null) return null;
    const status = row.values(names.statusColumnName);
    if (status !== undefined && status[0] !== 'true' && status[0] !== '200') return null;
    const hash = row.values(names.hashColumnName);
    const [passwordHash = null] = hash ?? [];
    if (hash !== undefined && passwordHash === null && !names.allowNullHash) return null;
    return { hash: passwordHash, claims: row.claims(controlColumns) };
  };
}
