import { parseJsonObject } from '../catalog/json-object.ts';
import { mapInSlices } from '../catalog/slices.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { DefaultRoute, Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import { createTypeLookup, decodeTypeRow, type TypeLookup } from '../catalog/type-lookup.ts';
import { describeStatement, type DescribedStatement } from '../postgres/describe.ts';
import { type Database, DatabaseError } from '../postgres/port.ts';
import { faultAt, type FileFault } from './fault.ts';
import { type NotNullTest, readNotNullColumns } from './not-null-columns.ts';
import { tokenName } from './scan.ts';
import { type ParsedFile, type ParsedStatement, placeInFile } from './parse-file.ts';
import { resolveResult, type StatementRows, statementRows } from './results.ts';
import { isQuery, mainWord, methodByWord } from './statement-rules.ts';
import { typesByOidSql } from './types-by-oid.sql.ts';
import { readWritingNames, type WritingNames } from './writing-names.ts';

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
  readonly faults: readonly FileFault[];
}

/** Prepares the statements of all files, and reads the types that they have. */
export async function prepareFiles(database: Database, files: readonly NamedFile[]): Promise<readonly PreparedFile[]> {
  if (files.length === 0) return [];
  const described = await Promise.all(files.map((file) => describeFile(database, file)));
  const columns = described.flatMap(({ statements }) => statements.flatMap((statement) => statement.columns));
  const [types, writingNames, isNotNull] = await Promise.all([
    readTypes(database, described),
    readWritingNames(database, listNames(files)),
    readNotNullColumns(database, columns),
  ]);
  return mapInSlices(described, (file) => toPreparedFile(file, { types, writingNames, isNotNull }));
}

async function describeFile(database: Database, file: NamedFile): Promise<DescribedFile> {
  const { parsed } = file;
  if (parsed.faults.length > 0) return { file, statements: [], faults: parsed.faults };
  const outcomes = await Promise.all(
    parsed.statements.map((statement) =>
      describeStatement(database, statement.prefix + statement.main).catch((error: unknown) => {
        if (error instanceof DatabaseError) return toFault(parsed, statement, error);
        throw error;
      }),
    ),
  );
  const faults = outcomes.filter((outcome): outcome is FileFault => 'message' in outcome);
  const statements = outcomes.filter((outcome): outcome is DescribedStatement => !('message' in outcome));
  return { file, statements, faults };
}

/** SQLSTATE of a parameter whose type nothing implies. */
const indeterminateDatatype = '42P18';

function toFault(parsed: ParsedFile, statement: ParsedStatement, { diagnostics }: DatabaseError): FileFault {
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
  return faultAt(parsed.text, at, 'sql-file', text);
}

function displayParameter(name: string): string {
  return name.startsWith('$') ? name : `:${name}`;
}

const textOid = 25;

async function readTypes(database: Database, files: readonly DescribedFile[]): Promise<TypeLookup> {
  const oids = new Set<number>([textOid]);
  for (const { statements } of files) {
    for (const { parameters, columns } of statements) {
      for (const oid of parameters) oids.add(oid);
      for (const { type } of columns) oids.add(type);
    }
  }
  const rows = await queryCatalog(database, typesByOidSql, [`{${[...oids].join(',')}}`]);
  return createTypeLookup(
    rows.map(([, facts], index) => decodeTypeRow(parseJsonObject(`row ${index + 1}, facts`, facts ?? null))),
  );
}

/** Returns all names in the statements. */
function listNames(files: readonly NamedFile[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { parsed } of files)
    for (const { source } of parsed.statements) for (const token of source.tokens) names.add(tokenName(token));
  return names;
}

/** What the catalog says of the statements of all files. */
interface CatalogFacts {
  readonly types: TypeLookup;
  readonly writingNames: WritingNames;
  readonly isNotNull: NotNullTest;
}

function toPreparedFile(
  { file, statements, faults }: DescribedFile,
  { types, writingNames, isNotNull }: CatalogFacts,
): PreparedFile {
  const { path, name, folder, parsed } = file;
  const inputs = faults.length > 0 ? [] : resolveParameters(parsed, statements, types);
  const rows =
    faults.length > 0
      ? []
      : parsed.statements.map((parts, index) => statementRows(parts, statements[index]!, { types, isNotNull }));
  const own = inputs.flatMap((input) => ('message' in input ? [input] : []));
  const result = faults.length > 0 ? { result: nothing, faults: [] } : resolveResult(file.name, parsed, rows);
  const all = [...faults, ...own, ...result.faults];
  const reads = parsed.statements.every((statement) => onlyReads(statement, writingNames));
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
      statement: parsed.statements.map(({ prefix, main }) => prefix + main).join(';\n'),
      ...(all.length === 0 ? {} : { faults: all }),
    },
  };
}

const nothing: RoutineResult = { kind: 'void', set: false, columns: [], named: false, display: 'void' };

/** Whether the statement and all that it names change nothing. */
function onlyReads(statement: ParsedStatement, writingNames: WritingNames): boolean {
  const { tokens } = statement.source;
  // A name in `U&"…"` is written with escapes.
  if (!isQuery(statement.source) || tokens.some(({ text }) => /^".*\\/.test(text))) return false;
  return !tokens.some((token) => writingNames.has(tokenName(token)));
}

function defaultMethod({ statements }: ParsedFile, reads: boolean): DefaultRoute['method'] {
  if (reads) return 'GET';
  return statements.length > 1 ? 'POST' : (methodByWord[mainWord(statements[0]!.source)] ?? 'POST');
}

/** Merges the types of the statements. */
function resolveParameters(
  parsed: ParsedFile,
  statements: readonly DescribedStatement[],
  types: TypeLookup,
): readonly (RoutineParameter | FileFault)[] {
  return parsed.parameters.map((parameter, index): RoutineParameter | FileFault => {
    const uses = parsed.statements.flatMap(({ names }, at) => {
      const number = names.indexOf(parameter.name);
      return number === -1 ? [] : [{ at, oid: statements[at]!.parameters[number]! }];
    });
    const first = uses[0]?.oid ?? textOid;
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

function typeConflict(
  parsed: ParsedFile,
  name: string,
  [first, { at, oid }]: readonly [number, { readonly at: number; readonly oid: number }],
  types: TypeLookup,
): FileFault {
  const place = parsed.statements[at]!.source.placeholders.find((placeholder) => placeholder.name === name)!;
  const both = [first, oid].map((type) => lookup(types, type).display);
  const message = `the parameter ${displayParameter(name)} is of type ${both[0]} in one statement and of type ${both[1]} here; set its type: param ${name} type ${both[0]}`;
  return faultAt(parsed.text, place.start, 'sql-file', message);
}
