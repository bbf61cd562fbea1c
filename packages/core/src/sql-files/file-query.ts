import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { resultColumnTypes } from '../endpoints/statement.ts';
import {
  buildStoringStatement,
  listQueryInputs,
  listValueQueries,
  storedValuesSetting,
  writeStoredValue,
} from '../endpoints/value-sql.ts';
import type { Query, QueryBuilder, QueryInput } from '../ports/ports.ts';
import type { Value } from '../postgres/port.ts';
import { listDefinedParameters, numberParameters, type ParsedFile, type ParsedStatement } from './parse-file.ts';
import type { PreparedFile } from './prepare-files.ts';
import { isOneResult, listMembers, type StatementRows } from './results.ts';
import { type QueryParts, storingQuery, wholeQuery } from './with-query.ts';

/** Returns the builder of the queries of an endpoint. The texts of its statements are made for the first request. */
export function createFileQuery(prepared: PreparedFile, endpoint: Endpoint): QueryBuilder {
  const build = withDefinedParameters(createStatementsQuery(prepared, endpoint), prepared.file.parsed, endpoint);
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

/** Adds a statement that reads the parameters that no text of the file uses, so that PostgreSQL refuses a value that their type does not have. */
function withDefinedParameters(
  build: (input: QueryInput) => Query,
  parsed: ParsedFile,
  endpoint: Endpoint,
): (input: QueryInput) => Query {
  const defined = listDefinedParameters(parsed).filter(({ name }) => {
    const index = parsed.parameters.findIndex((parameter) => parameter.name === name);
    const known = endpoint.parameters.find(({ position }) => position === index + 1);
    return known !== undefined && known.injectedValue === undefined && known.type.builtin !== 'text';
  });
  if (defined.length === 0) return build;
  const names = defined.map(({ name }) => name);
  const bind = createBinding({ names }, parsed.parameters);
  const sql = `select ${defined.map(({ type }, index) => `$${index + 1}::${type}`).join(', ')}`;
  return (input) => {
    const query = build(input);
    return { ...query, earlier: [{ sql, statementKey: 'defined', ...bind(input) }, ...(query.earlier ?? [])] };
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
  { file: { parsed }, rows: described }: PreparedFile,
  endpoint: Endpoint,
): (input: QueryInput) => Query {
  const statements = listStatements(parsed, endpoint);
  // The place of a stored value can give a column without a name another one.
  const rows = statements === parsed.statements ? described : described.map((one) => ({ ...one, names: null }));
  const bindings = statements.map((statement) => createBinding(statement, parsed.parameters));
  const types = statements.map((statement, index) =>
    parameterTypes(statement, parsed.statements[index]!, rows[index]!),
  );
  // Of the endpoint: the same file may have other types in the database of another tenant.
  const isReadOnly = endpoint.volatility !== 'volatile' && endpoint.isReadThroughout !== true;
  if (isOneResult(parsed)) return createLastQuery({ statements, rows, bindings, types, isReadOnly }, endpoint);
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
      expected: { types: types[index]! },
      ...(members.has(index) ? { setting: settingName(index) } : {}),
      ...bindings[index]!(input),
    })),
  });
}

interface BoundStatements {
  readonly statements: readonly ParsedStatement[];
  readonly rows: readonly StatementRows[];
  readonly bindings: readonly ((input: QueryInput) => BoundValues)[];
  readonly types: readonly (readonly number[])[];
  readonly isReadOnly: boolean;
}

/** Returns the builder of a query whose response is the result of the last statement. */
function createLastQuery(
  { statements, rows, bindings, types, isReadOnly }: BoundStatements,
  endpoint: Endpoint,
): (input: QueryInput) => Query {
  const last = statements.length - 1;
  const parts = (): QueryParts => wholeQuery(statements[last]!, endpoint, rows[last]!);
  const sql = (): string => parts().prefix + parts().main;
  const mainStart = (): number => parts().prefix.length;
  const bind = bindings[last]!;
  const fixed = {
    sql,
    mainStart,
    statementKey: 'file',
    isReadOnly,
    expected: { types: types[last]!, ...expectColumns(endpoint, rows[last]!) },
  };
  const whole = (input: QueryInput): Query => {
    const { values, valueSources } = bind(input);
    return { ...fixed, values, valueSources };
  };
  if (last === 0) return whole;
  return (input) => ({
    ...whole(input),
    earlier: statements.slice(0, -1).map((statement, index) => ({
      sql: statement.prefix + statement.main,
      statementKey: `file ${index}`,
      expected: { types: types[index]! },
      ...bindings[index]!(input),
    })),
  });
}

/** OIDs below are the same in every database: PostgreSQL manual, "System Catalog Initial Data". */
const firstUnpinnedOid = 10_000;

/** Returns the types of `$1`, `$2`, … as the load has found them: after a change of the schema, the statement fails and its file is prepared again. */
function parameterTypes(
  { names }: ParsedStatement,
  described: ParsedStatement,
  { parameterTypes: oids }: StatementRows,
): readonly number[] {
  return names.map((name) => {
    const oid = oids[described.names.indexOf(name)] ?? 0;
    return oid < firstUnpinnedOid ? oid : 0;
  });
}

/** Returns what the columns of the only result have to be. A column that is written as a string can have any type otherwise. */
function expectColumns(endpoint: Endpoint, { kind, names }: StatementRows): NonNullable<Query['expected']> {
  const { result, raw } = endpoint;
  if (result.kind === 'nothing' || raw !== null) return {};
  const shown = 'columns' in result ? result.columns : 'column' in result ? [result.column] : [];
  const columns = resultColumnTypes(endpoint).map((accepted, index) => {
    const type = shown[index]?.type;
    return accepted === null && type?.json === 'string' && type.oid < firstUnpinnedOid ? [type.oid] : accepted;
  });
  const isConverted = shown.some(
    ({ type, parentColumn }) => type.json === 'converted' || type.kind === 'composite' || parentColumn !== undefined,
  );
  return { columns, ...(kind === 'rows' && names !== null && !isConverted ? { columnNames: names } : {}) };
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
