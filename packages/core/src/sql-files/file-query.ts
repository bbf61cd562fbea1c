import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import {
  buildStoringStatement,
  listQueryInputs,
  listValueQueries,
  storedValuesSetting,
  writeStoredValue,
} from '../endpoints/value-sql.ts';
import type { Query, QueryBuilder, QueryInput, QueryStatement } from '../ports/ports.ts';
import type { Value } from '../postgres/port.ts';
import { numberParameters, type ParsedFile, type ParsedStatement } from './parse-file.ts';
import type { PreparedFile } from './prepare-files.ts';
import { isOneResult, listMembers } from './results.ts';
import { type QueryParts, storingQuery, wholeQuery } from './with-query.ts';

/** Returns the builder of the queries of an endpoint. The texts of its statements are made for the first request. */
export function createFileQuery(prepared: PreparedFile, endpoint: Endpoint): QueryBuilder {
  const build = createStatementsQuery(prepared, endpoint);
  const inputs = listQueryInputs(endpoint.parameters);
  if (listValueQueries(endpoint.parameters).length === 0) return build;
  const { parameters } = prepared.file.parsed;
  const bind = createBinding({ names: inputs.map(({ position }) => parameters[position - 1]!.name) }, parameters);
  const sql = (): string => buildStoringStatement(endpoint.parameters, inputs);
  return (input) => {
    const query = build(input);
    const values = { sql, statementKey: 'values', setting: storedValuesSetting, ...bind(input) };
    return { ...query, earlier: [values, ...(query.earlier ?? [])] };
  };
}

/** Returns the statements of the file. Where a query has set a parameter, they read the stored value. */
function listStatements(
  { text, statements, parameters, directives }: ParsedFile,
  endpoint: Endpoint,
): readonly ParsedStatement[] {
  const stored = new Map(
    listValueQueries(endpoint.parameters).map((parameter) => {
      const value = `${writeStoredValue(endpoint.parameters, parameter)}::${parameter.type.sql}`;
      return [parameters[parameter.position - 1]!.name, value] as const;
    }),
  );
  if (stored.size === 0) return statements;
  return statements.map((statement) => ({
    ...statement,
    ...numberParameters(text, statement.source, directives.parameters, stored),
  }));
}

function createStatementsQuery(
  { file: { parsed }, rows }: PreparedFile,
  endpoint: Endpoint,
): (input: QueryInput) => Query {
  const statements = listStatements(parsed, endpoint);
  const bindings = statements.map((statement) => createBinding(statement, parsed.parameters));
  const last = statements.length - 1;
  // Of the endpoint: the same file may have other types in the database of another tenant.
  const isReadOnly = endpoint.volatility !== 'volatile' && endpoint.isReadThroughout !== true;
  if (isOneResult(parsed)) {
    const parts = (): QueryParts => wholeQuery(statements[last]!, endpoint, rows[last]!);
    const sql = (): string => parts().prefix + parts().main;
    const mainStart = (): number => parts().prefix.length;
    const bind = bindings[last]!;
    const whole = (input: QueryInput): Query => {
      const { values, valueSources } = bind(input);
      return { sql, mainStart, statementKey: 'file', isReadOnly, values, valueSources };
    };
    if (last === 0) return whole;
    return (input) => ({
      ...whole(input),
      earlier: statements
        .slice(0, -1)
        .map((statement, index) => plainStatement(statement, index, bindings[index]!(input))),
    });
  }
  const { result } = endpoint;
  const shown = result.kind === 'object' ? listMembers(parsed, rows) : [];
  const members = new Map(shown.map((member, place) => [member.index, { ...member, place }]));
  const texts = statements.map((statement, index) => {
    const member = members.get(index);
    return member === undefined || result.kind !== 'object'
      ? statement.prefix + statement.main
      : storingQuery(statement, settingName(index), rows[index]!, result.columns[member.place]!.type);
  });
  const columns = [...members.values()].map(({ name, index }) => {
    const type = rows[index]!.kind === 'count' ? 'int8' : 'json';
    return `pg_catalog.current_setting(${quoteLiteral(settingName(index))})::pg_catalog.${type} as ${quoteIdentifier(name)}`;
  });
  const sql = `select ${columns.join(', ')}`;
  return (input) => ({
    sql,
    statementKey: 'file',
    isReadOnly,
    values: [],
    valueSources: [],
    earlier: texts.map((text, index) => ({
      sql: text,
      statementKey: `file ${index}`,
      ...(members.has(index) ? { setting: settingName(index) } : {}),
      ...bindings[index]!(input),
    })),
  });
}

function plainStatement(statement: ParsedStatement, index: number, bound: BoundValues): QueryStatement {
  return { sql: statement.prefix + statement.main, statementKey: `file ${index}`, ...bound };
}

type BoundValues = Required<Pick<Query, 'values' | 'valueSources'>>;

/** Returns a function that binds the values of a request to `$1`, `$2`, … of the statement. */
function createBinding(
  { names }: Pick<ParsedStatement, 'names'>,
  parameters: PreparedFile['file']['parsed']['parameters'],
): (input: QueryInput) => BoundValues {
  const uses = names.map((name) => {
    const index = parameters.findIndex((parameter) => parameter.name === name);
    return { position: index + 1, byDefault: parameters[index]!.default ?? null, claim: parameters[index]!.claim };
  });
  const isPlain =
    uses.length === parameters.length &&
    uses.every(({ position, claim }, index) => position === index + 1 && claim === undefined);
  return ({ parameters: given, values }) => {
    // All values are in the order of the statement.
    if (isPlain && given.length === uses.length) return { values, valueSources: given };
    const bound: Value[] = [];
    const sources: (EndpointParameter | null)[] = [];
    for (const { position, byDefault, claim } of uses) {
      const index = given.findIndex((parameter) => parameter.position === position);
      const value = index === -1 ? byDefault : values[index]!;
      bound.push(claim === undefined ? value : readClaim(given[index], value, claim));
      sources.push(index === -1 ? null : given[index]!);
    }
    return { values: bound, valueSources: sources };
  };
}

/**
 * Returns a claim of the caller as text; null without one.
 * @throws Error for claims that the gateway has not set
 */
function readClaim(parameter: EndpointParameter | undefined, claims: Value, name: string): string | null {
  if (parameter?.injectedValue !== 'userClaims') throw new Error(`the claim ${name} is not set by the gateway`);
  if (typeof claims !== 'string') return null;
  const all = JSON.parse(claims) as Readonly<Record<string, unknown>> | null;
  if (all === null || !Object.hasOwn(all, name)) return null;
  const value = all[name];
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

/** The setting of the transaction that keeps the result of a statement until all have succeeded. */
function settingName(index: number): string {
  return `pgway.result_${index}`;
}
