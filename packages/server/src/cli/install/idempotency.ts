/** `pgway install idempotency`: the table of idempotency keys with its functions. */
import { installIdempotency } from '@pgway/core';
import { uninstallIdempotency } from '@pgway/core';
import type { CommandContext } from '../command-context.ts';
import type { Installation } from './installation.ts';

/** The roles are those of the command line, and the one of anonymous callers. The role that runs the statements is the owner. */
export function idempotencyInstallation({ task, loaded: { configuration } }: CommandContext): Installation {
  const { schema } = configuration.idempotency;
  const { anonymous } = configuration.authentication.databaseRole;
  const roles = [...new Set([...task.operands.slice(1), ...(anonymous === null ? [] : [anonymous])])];
  const install = (): readonly string[] => installIdempotency({ schema, roles });
  const uninstall = (): readonly string[] => uninstallIdempotency(schema);
  return {
    install,
    uninstall,
    readStatements: (_, isUninstall) => Promise.resolve(isUninstall ? uninstall() : install()),
    privilegeHint: (user) =>
      `${user} needs CREATE on the database, or on the schema ${schema} and ownership of what was installed there: pass --connectionString of another user, or hand over the output of --print`,
    result: (database, isUninstall) =>
      isUninstall
        ? `removed: the database ${database} stores no idempotency keys`
        : `installed: the database ${database} stores idempotency keys in the schema ${schema}`,
  };
}
