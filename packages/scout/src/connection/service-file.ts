/** The services of `pg_service.conf`: https://www.postgresql.org/docs/current/libpq-pgservice.html */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Environment } from '../process/process-context.ts';

export interface ServiceText {
  /** The connection string without its service. */
  readonly text: string;
  readonly service: string | null;
}

const urlService = /([?&])service=([^&]*)(&|$)/i;
/** Quoted values, which can contain the word, or the service. */
const keyService = /'(?:\\[^]|''|[^'\\])*'|(^|[;\s])service\s*=\s*(?:'((?:\\[^]|[^'\\])*)'|([^;\s]*))/gi;

/** Takes the service out of a connection string. */
export function takeService(text: string): ServiceText {
  if (/^[a-z]+:\/\//i.test(text)) {
    const name = urlService.exec(text)?.[2];
    if (name === undefined) return { text, service: null };
    const rest = text.replace(urlService, (_, before: string, _name, after: string) => (after === '' ? '' : before));
    return { text: rest, service: decodeURIComponent(name) };
  }
  let service: string | null = null;
  const rest = text.replace(keyService, (all, before?: string, quoted?: string, plain?: string) => {
    if (before === undefined) return all;
    service = quoted ?? plain ?? '';
    return before;
  });
  if (service === null) return { text, service };
  return { text: rest.replace(/[;\s]/g, '') === '' ? 'postgres:///' : rest.trim(), service };
}

/**
 * Returns the connection of a service as a URL.
 * @throws UsageError when no file has the service
 */
export function serviceUrl(service: string, environment: Environment): string {
  const own = environment['PGSERVICEFILE'] || join(environment['HOME'] || homedir(), '.pg_service.conf');
  const folder = environment['PGSYSCONFDIR'] ?? '';
  const files = [own, ...(folder === '' ? [] : [join(folder, 'pg_service.conf')])];
  const names: string[] = [];
  for (const file of files) {
    const services = readServices(file);
    const lines = services.get(service);
    if (lines !== undefined) return toUrl(lines, service, file);
    names.push(...services.keys());
  }
  throw new UsageError(
    `no service ${JSON.stringify(service)} in ${files.join(' or ')}${nearest(service, names) || '; PGSERVICEFILE names another file'}`,
  );
}

function readServices(file: string): ReadonlyMap<string, readonly string[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return new Map();
    throw new UsageError(`${file}: cannot read the file (${code})`);
  }
  const services = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split('\n').map((part) => part.trim())) {
    const name = /^\[(.*)\]$/.exec(line)?.[1];
    // The first section of a name counts.
    if (name !== undefined) lines = services.get(name) === undefined ? services.set(name, []).get(name)! : [];
    else if (line !== '' && !line.startsWith('#')) lines.push(line);
  }
  return services;
}

function toUrl(lines: readonly string[], service: string, file: string): string {
  const pairs = lines.map((line) => {
    const [, key, value] = /^([^=\s]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || key === 'service' || line.startsWith('ldap')) {
      throw new UsageError(`${file}: service ${JSON.stringify(service)} has a line that is not key=value`);
    }
    return `${encodeURIComponent(key)}=${encodeURIComponent(value!)}`;
  });
  return `postgres:///?${pairs.join('&')}`;
}
