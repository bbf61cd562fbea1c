/** The variables of libpq that name a database. */
import type { Environment } from './environment.ts';

const pgVariables: Readonly<Record<string, string>> = {
  PGHOST: 'host',
  PGPORT: 'port',
  PGDATABASE: 'dbname',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  PGSSLMODE: 'sslmode',
};

/** Returns the libpq variables that are set. Empty variables count as unset. */
export function presentPgVariables(environment: Environment): readonly string[] {
  return Object.keys(pgVariables).filter((name) => (environment[name] ?? '') !== '');
}

/** Builds a connection URL from the libpq variables; null when they name neither server nor database. */
export function connectionFromPgVariables(environment: Environment): string | null {
  const present = presentPgVariables(environment);
  if (!['PGHOST', 'PGPORT', 'PGDATABASE'].some((name) => present.includes(name))) return null;
  const parameters = new URLSearchParams(present.includes('PGHOST') ? [] : [['host', 'localhost']]);
  for (const variable of present) parameters.set(pgVariables[variable]!, environment[variable]!);
  return `postgres:///?${parameters.toString()}`;
}
