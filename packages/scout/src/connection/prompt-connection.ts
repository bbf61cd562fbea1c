/** Questions about the connection, and the settings file that keeps the answers. */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { ConnectionSettings } from '@pgway/core/connection';
import { type Ask, escapeControlCharacters, onTerminal } from '@pgway/core/terminal';
import { confirm } from '../process/confirm.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { type ConnectionName, connectionUrl, serverText } from './connection-name.ts';
import { ownFile } from './settings.ts';

const maxPort = 65_535;

/** Asks for the parts of a connection, each with its default. */
export function promptConnection(process: ProcessContext): Promise<ConnectionSettings> {
  const { environment } = process;
  return onTerminal(process, async (ask) => {
    const host = await askText(ask, 'Server', environment['PGHOST'] || 'localhost');
    const port = await askPort(ask, environment['PGPORT'] || '5432');
    const database = await askText(ask, 'Database', environment['PGDATABASE'] || 'postgres');
    const user = await askText(ask, 'User', environment['PGUSER'] || userInfo().username);
    const password = (await ask('Password: ', true)) || environment['PGPASSWORD'] || '';
    const isLocal = host === 'localhost' || host.startsWith('/') || host.startsWith('127.') || host === '::1';
    return {
      host,
      port,
      database,
      user,
      ...(password === '' ? {} : { password }),
      ssl: isLocal ? 'disable' : 'prefer',
    };
  });
}

async function askText(ask: Ask, label: string, byDefault: string): Promise<string> {
  const answer = (await ask(`${label} [${escapeControlCharacters(byDefault)}]: `, false)).trim();
  return answer === '' ? byDefault : answer;
}

async function askPort(ask: Ask, byDefault: string): Promise<number> {
  const text = await askText(ask, 'Port', byDefault);
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port <= maxPort) return port;
  return askPort(ask, byDefault);
}

/** Asks for the password of a known user. */
export function promptPassword(process: ProcessContext, name: ConnectionName): Promise<string> {
  const account = escapeControlCharacters(`${name.user} on ${serverText(name)}`);
  return onTerminal(process, (ask) => ask(`Password of ${account}: `, true));
}

/** Offers to write the connection to the settings file of the folder. The password is not written. */
export async function offerSettingsFile(process: ProcessContext, name: ConnectionName): Promise<void> {
  if (!(await confirm(process, `Write this connection, without the password, to ${ownFile} in this folder?`))) return;
  const content = { ConnectionStrings: { default: connectionUrl(name) } };
  try {
    await writeFile(join(process.workingDirectory, ownFile), `${JSON.stringify(content, undefined, 2)}\n`, {
      flag: 'wx',
    });
    process.stderr.write(`${ownFile} is written; PGPASSWORD and ~/.pgpass can have the password\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    process.stderr.write(`${ownFile} cannot be written (${code === 'EEXIST' ? 'it exists' : code})\n`);
  }
}
