import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint, EndpointParameter, ValueQuery } from '../endpoints/endpoint.ts';
import { writeValueQuery } from '../endpoints/value-sql.ts';
import { pointAt } from '../endpoints/value-query.ts';
import { describeStatement } from '../postgres/describe.ts';
import { type Database, DatabaseError } from '../postgres/port.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import { analyzeSql } from '../catalog/statement-effects.ts';
import { readNamedEffects } from '../sql-files/named-effects.ts';
import type { Connections } from './connections.ts';
import { textCastSql } from './text-cast.sql.ts';

interface SetParameter {
  readonly endpoint: Endpoint;
  readonly parameter: EndpointParameter;
  readonly query: ValueQuery;
}

/** Prepares the queries that set parameters. Returns the endpoints without those whose query has a mistake, and a diagnostic for each. */
export async function checkValueQueries(
  endpoints: readonly Endpoint[],
  connections: Connections,
): Promise<{ readonly endpoints: readonly Endpoint[]; readonly diagnostics: readonly Diagnostic[] }> {
  const set = endpoints.flatMap((endpoint) =>
    endpoint.parameters.flatMap((parameter): readonly SetParameter[] =>
      parameter.query === undefined ? [] : [{ endpoint, parameter, query: parameter.query }],
    ),
  );
  if (set.length === 0) return { endpoints, diagnostics: [] };
  const faults = await Promise.all(set.map(async (each) => [each, await findFault(each, connections)] as const));
  const faulty = new Set<Endpoint>();
  const diagnostics = faults.flatMap(([{ endpoint, parameter, query }, fault]): readonly Diagnostic[] => {
    if (fault === null) return [];
    faulty.add(endpoint);
    const message = `param ${parameter.name}: ${fault}`;
    return [{ severity: 'error', code: 'value-query', routine: endpoint.id, line: query.line, message }];
  });
  return { endpoints: endpoints.filter((endpoint) => !faulty.has(endpoint)), diagnostics };
}

async function findFault(
  { endpoint, parameter, query }: SetParameter,
  connections: Connections,
): Promise<string | null> {
  const database = endpoint.connection === null ? connections.main : connections.named.get(endpoint.connection)!;
  const inputs = endpoint.parameters.filter(({ position }) => query.parts.includes(position));
  const subquery = writeValueQuery(query, endpoint.parameters, inputs);
  const sql = `select ${subquery}::${parameter.type.sql}`;
  let target: number;
  try {
    target = await describeType(database, sql);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { message, hint, position } = error.diagnostics;
    const advice = hint === undefined ? message : `${message} (${hint})`;
    return position === undefined ? advice : pointAt(advice, query.text, placeInQuery(query, sql, Number(position)));
  }
  const source = await describeType(database, subquery);
  const fault = source === target ? null : await findTextCast(database, source, target);
  if (fault !== null) return fault;
  if (endpoint.volatility === 'volatile' || (await onlyReads(database, query))) return null;
  return `the query may write, but the function is declared ${endpoint.volatility}, so that it may run twice and in a read-only transaction; declare it volatile`;
}

/** Returns the OID of the type of the only column, which is never a domain. */
async function describeType(database: Database, sql: string): Promise<number> {
  const { columns } = await describeStatement(database, sql);
  return columns[0]!.type;
}

/**
 * Returns why the value cannot have its type by the cast of the call. An input function quotes the value that it refuses, which a client would
 * read as a mistake of its request, although policies or privileges may hide the row.
 */
async function findTextCast(database: Database, source: number, target: number): Promise<string | null> {
  const [types] = await queryCatalog(database, textCastSql, [String(source), String(target)]);
  if (types === undefined) return null;
  const [from, to] = types as readonly [string, string];
  return `the query returns ${from}, and an error of its conversion to ${to} would show the value to the client; return ${to}, or write the cast (::${to}) in the query if clients may see the value`;
}

/** Whether all that the query names changes nothing. */
async function onlyReads(database: Database, { text }: ValueQuery): Promise<boolean> {
  const { words } = analyzeSql(text);
  if (/\b(?:insert|update|delete|merge|share)\b/i.test(text)) return false;
  const { mayWrite } = await readNamedEffects(database, words);
  return ![...words].some(mayWrite);
}

/** Returns the place in the query of the comment. @param position in characters of the statement, from 1 */
function placeInQuery({ parts, text }: ValueQuery, sql: string, position: number): number {
  // PostgreSQL counts code points.
  const at = Array.from(sql)
    .slice(0, position - 1)
    .join('').length;
  let [written, place] = ['select ('.length, 0];
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (at <= written + part.length) return place + Math.max(0, at - written);
      written += part.length;
      place += part.length;
      continue;
    }
    const next = parts[index + 1] as string;
    const end = next === '' ? written : sql.indexOf(next, written);
    const source = next === '' ? text.length : text.indexOf(next, place);
    if (at < end) return place;
    written = end;
    place = source;
  }
  return text.length;
}
