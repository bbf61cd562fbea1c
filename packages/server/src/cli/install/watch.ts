/** `pgway install watch`: event triggers that notify the gateway of changes of the catalog. */
import { runStatements } from '@pgway/core/internal';
import { ConfigurationError } from '../../config/configuration-error.ts';
import type { CommandContext } from '../command-context.ts';
import type { Installation } from './installation.ts';
import {
  installStatements,
  maxNameLength,
  schemaQuery,
  uninstallStatements,
  type WatchTrigger,
} from './watch-trigger.ts';

const defaultSchema = 'pgway';

/** @throws ConfigurationError without a channel, or for an invalid name */
export function watchInstallation(context: CommandContext): Installation {
  const trigger = readTrigger(context);
  const { channel } = trigger;
  return {
    install: () => installStatements(trigger),
    uninstall: () => uninstallStatements(trigger),
    readStatements: async (connection, isUninstall) => {
      const [rows] = await runStatements(connection, [schemaQuery(channel)]);
      const current = rows![0]?.[0] ?? null;
      if (isUninstall) return uninstallStatements({ ...trigger, schema: current ?? trigger.schema });
      const isMoved = current !== null && current !== trigger.schema;
      return [...(isMoved ? uninstallStatements({ ...trigger, schema: current }) : []), ...installStatements(trigger)];
    },
    privilegeHint: (user) =>
      `event triggers need a superuser, or the administrator of a managed database (rds_superuser, azure_pg_admin, cloudsqlsuperuser, neon_superuser), and ${user} may not create them: pass --connectionString of another user, or hand over the output of --print`,
    result: (database, isUninstall) =>
      isUninstall
        ? `removed: changes of the database ${database} no longer notify the channel ${channel}`
        : `installed: changes of the database ${database} notify the channel ${channel}, and every server that listens to it reloads its endpoints`,
  };
}

function readTrigger({ task, loaded }: CommandContext): WatchTrigger {
  const { refreshOnNotify: channel } = loaded.configuration.gateway;
  const schema = task.operands[1] ?? defaultSchema;
  if (channel === null) {
    throw new ConfigurationError([
      'gateway.refreshOnNotify: missing; set it to the channel of the notifications, which the server listens to, as in "gateway": { "refreshOnNotify": "pgway_refresh" }',
    ]);
  }
  const faults = [
    ['gateway.refreshOnNotify', channel] as const,
    ['install watch: the schema', schema] as const,
  ].flatMap(([name, text]) => {
    const isValid = text !== '' && !text.includes('\0') && Buffer.byteLength(text) <= maxNameLength;
    return isValid ? [] : [`${name}: must have 1 to ${maxNameLength} bytes and no NUL`];
  });
  if (faults.length > 0) throw new ConfigurationError(faults);
  return { channel, schema };
}
