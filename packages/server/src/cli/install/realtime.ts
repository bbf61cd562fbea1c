/** `pgway install realtime`: the table of broadcasts with its functions. */
import { installRealtimeMessages, uninstallRealtimeMessages } from '@pgway/realtime/internal';
import type { CommandContext } from '../command-context.ts';
import type { Installation } from './installation.ts';

/** The roles are those of the command line. The role that runs the statements is the owner. */
export function realtimeInstallation({ task }: CommandContext): Installation {
  const install = (): readonly string[] => installRealtimeMessages(task.operands.slice(1));
  return {
    install,
    uninstall: uninstallRealtimeMessages,
    readStatements: (_, isUninstall) => Promise.resolve(isUninstall ? uninstallRealtimeMessages() : install()),
    privilegeHint: (user) =>
      `${user} needs CREATE on the database, and ownership of what was installed in the schema realtime and of the publication pgway_changes: pass --connectionString of another user, or hand over the output of --print`,
    result: (database, isUninstall) =>
      isUninstall
        ? `removed: the database ${database} has no private channels`
        : `installed: policies on realtime.messages decide about the private channels of the database ${database}`,
  };
}
