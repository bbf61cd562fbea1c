/** A connection as environment variables of libpq. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionSettings } from '@pgway/core/connection';
import type { ConnectionName } from '../connection/connection-name.ts';

export interface ConnectionVariables {
  readonly values: Readonly<Record<string, string>>;
  /** Removes the files that variables name. */
  readonly remove: () => Promise<void>;
}

export async function connectionVariables(
  settings: ConnectionSettings,
  name: ConnectionName,
): Promise<ConnectionVariables> {
  const { password, options, ssl } = settings;
  const values: Record<string, string> = {
    PGHOST: name.host,
    PGPORT: String(name.port),
    PGDATABASE: name.database,
    PGUSER: name.user,
    PGAPPNAME: 'pgscout',
    ...(password === undefined ? {} : { PGPASSWORD: password }),
    ...(options === undefined ? {} : { PGOPTIONS: options }),
  };
  if (typeof ssl === 'string') return { values: { ...values, PGSSLMODE: ssl }, remove: () => Promise.resolve() };
  const isVerified = ssl.rejectUnauthorized === true;
  const mode = isVerified ? (ssl.checkServerIdentity === undefined ? 'verify-full' : 'verify-ca') : 'require';
  // The connection string named files, whose content the settings have.
  const folder = await mkdtemp(join(tmpdir(), 'pgscout-'));
  const files = { PGSSLROOTCERT: ssl.ca, PGSSLCERT: ssl.cert, PGSSLKEY: ssl.key };
  for (const [variable, content] of Object.entries(files)) {
    if (typeof content !== 'string') continue;
    values[variable] = join(folder, variable);
    await writeFile(values[variable], content, { mode: 0o600 });
  }
  return { values: { ...values, PGSSLMODE: mode }, remove: () => rm(folder, { recursive: true, force: true }) };
}
