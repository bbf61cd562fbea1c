import { parseJsonObject } from '../catalog/json-object.ts';
import { mapInSlices } from '../catalog/slices.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import { tokenizeSql } from '../catalog/tokenize-sql.ts';
import type { DefaultRoute, Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import { createTypeLookup, decodeTypeRow, type TypeLookup } from '../catalog/type-lookup.ts';
import { describeStatement, type DescribedStatement } from '../postgres/describe.ts';
import { type Database, DatabaseError } from '../postgres/port.ts';
import { faultAt, type FileFault } from './fault.ts';
import { listQueryNames, queryOnlyReads } from './file-value-queries.ts';
import { readNotNullColumns } from './not-null-columns.ts';
import { tokenName } from './scan.ts';
import {
  type DefinedParameter,
  listDefinedParameters,
  type NumberedText,
  type ParsedFile,
  type ParsedQuery,
  type ParsedStatement,
  placeInFile,
} from './parse-file.ts';
import type { ParameterDirective } from './directives.ts';
import { resolveResult, type StatementRows, statementRows } from './results.ts';
import { isQuery, mainWord, methodByWord } from './statement-rules.ts';
import { typesByOidSql } from './types-by-oid.sql.ts';
import { type NamedEffects, readNamedEffects } from './named-effects.ts';
import { listTrialQueries } from './with-query.ts';

/** A file that is an endpoint, or has faults. */
export interface NamedFile {
  /** The path of the file below the folder of the source, with `/`. */
  readonly path: string;
  readonly name: string;
  /** `/admin`, where folders are part of the path of the endpoint; else empty. */
  readonly folder: string;
  readonly parsed: ParsedFile;
}

/** A file whose statements PostgreSQL knows. */
export interface PreparedFile {
  readonly file: NamedFile;
  readonly routine: Routine;
  /** The rows of each statement. */
  readonly rows: readonly StatementRows[];
}

interface DescribedFile {
  readonly file: NamedFile;
  readonly statements: readonly DescribedStatement[];
  /** The queries that set parameters. */
  readonly queries: readonly DescribedStatement[];
  /** The type OIDs of parameters that no text uses, by their names. */
  readonly defined: ReadonlyMap<string, number>;
  readonly faults: readonly FileFault[];
}

/** Prepares the statements of all files, and reads the types that they have. */
export async function prepareFiles(database: Database, files: readonly NamedFile[]): Promise<readonly PreparedFile[]> {
  if (files.length === 0) return [];
  const described = await Promise.all(files.map((file) => describeFile(database, file)));
  const columns = described.flatMap(({ statements }) => statements.flatMap((statement) => statement.columns));
  const [types, isNotNull] = await Promise.all([readTypes(database, described), readNotNullColumns(database, columns)]);
  const known = await mapInSlices(described, (file): KnownRows => {
    const rows = file.faults.length > 0 ? [] : listRows(file, { types, isNotNull });
    return { ...file, rows, names: listNames(file.file.parsed) };
  });
  const [tried, effects] = await Promise.all([
    Promise.all(known.map((file) => tryQueries(database, file))),
    readNamedEffects(database, new Set(known.flatMap(({ names }) => [...names]))),
  ]);
  return mapInSlices(tried, (file) => toPreparedFile(file, { types, effects }));
}

interface KnownRows extends DescribedFile {
  readonly rows: readonly StatementRows[];
  /** All names in its statements, queries and types of parameters. */
  readonly names: ReadonlySet<string>;
}

function listRows(
  { file, statements }: DescribedFile,
  facts: Parameters<typeof statementRows>[2],
): readonly StatementRows[] {
  return file.parsed.statements.map((parts, index) => statementRows(parts, statements[index]!, facts));
}

/** Adds the faults of statements that PostgreSQL refuses as the queries of WITH that they are sent as. */
async function tryQueries(database: Database, described: KnownRows): Promise<KnownRows> {
  const { file, rows } = described;
  if (described.faults.length > 0) return described;
  const { parsed } = file;
  const faults = await Promise.all(
    [...listTrialQueries(parsed, rows)].map(async ([index, sql]): Promise<readonly FileFault[]> => {
      const error = await describeStatement(database, sql).then(() => null, toDatabaseError);
      if (error === null) return [];
      // The statement by itself has no syntax error: RETURNING is what the version does not know.
      const reason = error.diagnostics.code === '42601' ? 'MERGE needs PostgreSQL 17 here' : error.diagnostics.message;
      const message = `${reason}; the response has the result of a query of WITH, which the statement has to be: write void or skip, or a function`;
      return [faultAt(parsed.text, parsed.statements[index]!.source.start, 'sql-file', message)];
    }),
  );
  return { ...described, faults: faults.flat() };
}

function toDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  throw error;
}

async function describeFile(database: Database, file: NamedFile): Promise<DescribedFile> {
  const { parsed } = file;
  if (parsed.faults.length > 0) return { file, statements: [], queries: [], defined: new Map(), faults: parsed.faults };
  const describe = (texts: readonly NumberedText[]): Promise<readonly (DescribedStatement | FileFault)[]> =>
    Promise.all(texts.map((text) => describeText(database, parsed, text)));
  const [statements, queries, defined] = await Promise.all([
    describe(parsed.statements),
    describe(parsed.queries),
    Promise.all(listDefinedParameters(parsed).map((parameter) => describeType(database, parsed, parameter))),
  ]);
  const faults = [...statements, ...queries, ...defined].filter(
    (outcome): outcome is FileFault => 'message' in outcome,
  );
  const known = (outcomes: readonly (DescribedStatement | FileFault)[]): readonly DescribedStatement[] =>
    outcomes.filter((outcome): outcome is DescribedStatement => !('message' in outcome));
  const types = defined.flatMap((outcome) => ('message' in outcome ? [] : [[outcome.name, outcome.oid] as const]));
  return { file, statements: known(statements), queries: known(queries), defined: new Map(types), faults };
}

/** Returns the type of a parameter that no text of the file uses. */
async function describeType(
  database: Database,
  { text }: ParsedFile,
  parameter: DefinedParameter,
): Promise<{ readonly name: string; readonly oid: number } | FileFault> {
  const { name, type } = parameter;
  try {
    const { parameters } = await describeStatement(database, `select ($1::${type})`);
    return { name, oid: parameters[0]! };
  } catch (error) {
    const { message } = toDatabaseError(error).diagnostics;
    return typeFault(text, parameter, `${message}: define_param ${name} ${type} sets a type; correct it`);
  }
}

/** Returns the fault of the comment that gives a parameter a type which does not exist. */
function typeFault(text: string, { type = '', typeLine = 1 }: ParameterDirective, message: string): FileFault {
  const lines = text.split('\n');
  const start = lines.slice(0, typeLine - 1).reduce((sum, { length }) => sum + length + 1, 0);
  // The type ends what is before the default.
  const [before = ''] = lines[typeLine - 1]!.split(/\sdefault(?=\s|$)|=/i, 1);
  return faultAt(text, start + Math.max(0, before.lastIndexOf(type)), 'sql-file', message);
}

function describeText(
  database: Database,
  parsed: ParsedFile,
  text: NumberedText,
): Promise<DescribedStatement | FileFault> {
  return describeStatement(database, text.prefix + text.main).catch((error: unknown) =>
    toFault(parsed, text, toDatabaseError(error)),
  );
}

/** SQLSTATE of a parameter whose type nothing implies. */
const indeterminateDatatype = '42P18';
/** SQLSTATE of a type that does not exist. */
const undefinedObject = '42704';

function toFault(parsed: ParsedFile, statement: NumberedText, { diagnostics }: DatabaseError): FileFault {
  const { code, message, hint, position } = diagnostics;
  const number = /\$(\d+)/.exec(message)?.[1];
  const name = number === undefined ? undefined : statement.names[Number(number) - 1];
  const named = name === undefined ? message : message.replace(`$${number}`, displayParameter(name));
  const advice = code === indeterminateDatatype && name !== undefined ? `; set its type: param ${name} type text` : '';
  const text = `${named}${advice}${hint === undefined ? '' : ` (${hint})`}`;
  const placeholder = statement.source.placeholders.find((candidate) => candidate.name === name);
  const at =
    position === undefined
      ? (placeholder?.start ?? statement.source.start)
      : placeInFile(parsed, statement, Number(position));
  return (
    (code === undefinedObject ? unknownType(parsed, statement, at, message) : null) ??
    faultAt(parsed.text, at, 'sql-file', text)
  );
}

/** Returns the fault of the line that sets the type of a parameter; null where the statement has the type. */
function unknownType(
  { text, directives }: ParsedFile,
  { source }: NumberedText,
  at: number,
  message: string,
): FileFault | null {
  const placeholder = source.placeholders.find(({ start }) => start === at);
  const directive = placeholder === undefined ? undefined : directives.parameters.get(placeholder.name);
  if (directive?.type === undefined) return null;
  const advice = `param ${directive.rename ?? directive.name} ${directive.type} sets a type; correct it, or change the name in the statement`;
  return typeFault(text, directive, `${message}: ${advice}`);
}

function displayParameter(name: string): string {
  return name.startsWith('$') ? name : `:${name}`;
}

const textOid = 25;

async function readTypes(database: Database, files: readonly DescribedFile[]): Promise<TypeLookup> {
  const oids = new Set<number>([textOid]);
  for (const { statements, queries, defined } of files) {
    for (const oid of defined.values()) oids.add(oid);
    for (const { parameters, columns } of [...statements, ...queries]) {
      for (const oid of parameters) oids.add(oid);
      for (const { type } of columns) oids.add(type);
    }
  }
  const rows = await queryCatalog(database, typesByOidSql, [`{${[...oids].join(',')}}`]);
  return createTypeLookup(
    rows.map(([, facts], index) => decodeTypeRow(parseJsonObject(`row ${index + 1}, facts`, facts ?? null))),
  );
}

/** Returns all names in the statements, the queries and the types of parameters, which statements contain. */
function listNames({ statements, queries, directives }: ParsedFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { source } of statements) for (const token of source.tokens) names.add(tokenName(token));
  for (const { source } of queries) for (const name of listQueryNames(source)) names.add(name);
  for (const { type } of directives.parameters.values())
    if (type !== undefined) for (const { text } of tokenizeSql(type)) names.add(text);
  return names;
}

/** What the catalog says of the statements of all files. */
interface CatalogFacts {
  readonly types: TypeLookup;
  readonly effects: NamedEffects;
}

function toPreparedFile(
  { file, statements, queries, defined, rows, names, faults }: KnownRows,
  { types, effects }: CatalogFacts,
): PreparedFile {
  const { path, name, folder, parsed } = file;
  const inputs = faults.length > 0 ? [] : resolveParameters(parsed, { statements, queries, defined }, types);
  const own = inputs.flatMap((input) => ('message' in input ? [input] : []));
  const result = faults.length > 0 ? { result: nothing, faults: [] } : resolveResult(file.name, parsed, rows);
  const all = [...faults, ...own, ...result.faults];
  const hasName = (test: (name: string) => boolean): boolean => [...names].some(test);
  const reads = faults.length === 0 && onlyReads(parsed) && !hasName(effects.mayWrite);
  return {
    file,
    rows,
    routine: {
      kind: 'function',
      schema: 'public',
      name,
      ...(folder === '' ? {} : { folder }),
      commentsMode: 'onlyWithHttpTag',
      route: { method: defaultMethod(parsed, reads), urlPattern: '{0}' },
      parameters: inputs.filter((input): input is RoutineParameter => !('message' in input)),
      outputs: [],
      result: result.result,
      volatility: reads ? 'stable' : 'volatile',
      strict: false,
      language: 'sql',
      comment: parsed.directives.comment,
      signature: path,
      statement: [...parsed.queries, ...parsed.statements].map(({ prefix, main }) => prefix + main).join(';\n'),
      takesQueries: true,
      isKept: true,
      ...(reads && !hasName(effects.mayRunUnread) ? { isReadThroughout: true as const } : {}),
      ...(all.length === 0 ? {} : { faults: all }),
    },
  };
}

const nothing: RoutineResult = { kind: 'void', set: false, columns: [], named: false, display: 'void' };

/** Whether the statements and queries have no word that writes; what they name is not considered. */
function onlyReads({ statements, queries }: ParsedFile): boolean {
  // A name in `U&"…"` is written with escapes.
  const isPlain = ({ source }: ParsedStatement): boolean =>
    !source.tokens.some(({ text }) => text.startsWith('"') && text.includes('\\'));
  return (
    statements.every((statement) => isQuery(statement.source) && isPlain(statement)) &&
    queries.every(({ source }) => queryOnlyReads(source))
  );
}

function defaultMethod({ statements }: ParsedFile, reads: boolean): DefaultRoute['method'] {
  if (reads) return 'GET';
  return statements.length !== 1 ? 'POST' : (methodByWord.get(mainWord(statements[0]!.source)) ?? 'POST');
}

/** A place where a parameter is used, and its type there. */
interface ParameterUse {
  readonly text: NumberedText;
  readonly oid: number;
}

/** Merges the types of the statements and queries. */
function resolveParameters(
  parsed: ParsedFile,
  { statements, queries, defined }: Pick<DescribedFile, 'statements' | 'queries' | 'defined'>,
  types: TypeLookup,
): readonly (RoutineParameter | FileFault)[] {
  const listUses = (
    name: string,
    texts: readonly NumberedText[],
    described: readonly DescribedStatement[],
  ): readonly ParameterUse[] =>
    texts.flatMap((text, at) => {
      const number = text.names.indexOf(name);
      return number === -1 ? [] : [{ text, oid: described[at]!.parameters[number]! }];
    });
  const wide = parsed.queries.flatMap((query, index) => refuseColumns(parsed, query, queries[index]!));
  if (wide.length > 0) return wide;
  return parsed.parameters.map((parameter, index): RoutineParameter | FileFault => {
    const inQueries = parameter.claim === undefined ? listUses(parameter.name, parsed.queries, queries) : [];
    const uses = [...listUses(parameter.name, parsed.statements, statements), ...inQueries];
    const first = uses[0]?.oid ?? defined.get(parameter.name) ?? textOid;
    const other = uses.find(({ oid }) => oid !== first);
    if (other !== undefined) return typeConflict(parsed, parameter.name, [first, other], types);
    const type = parameter.claim === undefined ? lookup(types, first) : lookup(types, textOid);
    const isPosition = parameter.name.startsWith('$') && parameter.rename === undefined;
    return {
      name: isPosition ? null : (parameter.rename ?? parameter.name),
      position: index + 1,
      type,
      hasDefault: parameter.default !== undefined,
      ...(parameter.default === undefined ? {} : { defaultExpression: displayDefault(parameter.default, type) }),
      variadic: false,
      mode: 'in',
      ...(parameter.claimLine === undefined ? {} : { claimsLine: parameter.claimLine }),
    };
  });
}

function lookup(types: TypeLookup, oid: number): TypeFacts {
  return types(oid, 'a statement of a file');
}

function displayDefault(value: string | null, type: TypeFacts): string {
  if (value === null) return 'NULL';
  return type.json === 'number' || type.json === 'boolean' ? value : `'${value.replaceAll("'", "''")}'`;
}

function refuseColumns(
  parsed: ParsedFile,
  { source }: ParsedQuery,
  { columns }: DescribedStatement,
): readonly FileFault[] {
  if (columns.length === 1) return [];
  const message = `param ${source.target}: the query returns ${columns.length} columns; select the one that the parameter gets`;
  return [faultAt(parsed.text, source.start, 'value-query', message)];
}

function typeConflict(
  parsed: ParsedFile,
  name: string,
  [first, { text, oid }]: readonly [number, ParameterUse],
  types: TypeLookup,
): FileFault {
  const [place] = text.source.placeholders.filter((placeholder) => placeholder.name === name);
  const both = [first, oid].map((type) => lookup(types, type).display);
  const message = `the parameter ${displayParameter(name)} is of type ${both[0]} in one statement and of type ${both[1]} here; set its type: param ${name} type ${both[0]}`;
  return faultAt(parsed.text, (place ?? text.source).start, 'sql-file', message);
}
