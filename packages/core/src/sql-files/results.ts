import type { Routine, RoutineResult } from '../catalog/routine.ts';
import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import type { TypeLookup } from '../catalog/type-lookup.ts';
import type { StatementDirective } from './directives.ts';
import type { DescribedStatement } from '../postgres/describe.ts';
import { faultAt, type FileFault } from './fault.ts';
import type { NotNullTest } from './not-null-columns.ts';
import type { ParsedFile, ParsedStatement } from './parse-file.ts';
import { mainStart, mainWord } from './statement-rules.ts';

/** What the response has of a statement. */
export interface StatementRows {
  /**
   * - `rows`: its rows; `values`: the values of its only column
   * - `count`: the number of affected rows
   * - `none`: nothing
   */
  readonly kind: 'rows' | 'values' | 'count' | 'none';
  /** Whether the first row stands for all. */
  readonly isSingle: boolean;
  readonly columns: readonly Column[];
  /** The names of the columns in the statement; null: they cannot be referred to by name. */
  readonly names: readonly string[] | null;
  /** The type OIDs of `$1`, `$2`, … */
  readonly parameterTypes: readonly number[];
  /** Whether the statement can be a query of WITH. */
  readonly isQuery: boolean;
  /** The type of `json`, and that of a number of rows. */
  readonly json: TypeFacts;
}

const textOid = 25;
const voidOid = 2278;
/** The statements that can be a query of WITH. */
const queries: ReadonlySet<string> = new Set(['select', 'values', 'table', 'insert', 'update', 'delete', 'merge']);
const changes: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge']);

export function statementRows(
  statement: ParsedStatement,
  { columns: described, parameters }: DescribedStatement,
  { types, isNotNull }: { readonly types: TypeLookup; readonly isNotNull: NotNullTest },
): StatementRows {
  const { source, directive } = statement;
  const word = mainWord(source);
  const isQuery = queries.has(word);
  const columns = nameColumns(described, types, isQuery).map((column, index) =>
    isNotNull(source, described[index]!) ? { ...column, notNull: true } : column,
  );
  const isSingle = directive.isSingle === true;
  const all = described.map(({ name }) => name);
  const names = new Set(all).size === all.length && !all.includes('') ? all : null;
  const rest = { isSingle, columns, names, parameterTypes: parameters, isQuery, json: jsonType(types) };
  if (columns.length === 0) return { kind: changes.has(word) ? 'count' : 'none', ...rest };
  // A call of a function that returns nothing: `select f()`.
  if (columns.length === 1 && described[0]!.type === voidOid) return { kind: 'none', ...rest };
  const isValue = columns.length === 1 && columns[0]!.type.kind !== 'composite';
  return { kind: isValue ? 'values' : 'rows', ...rest };
}

/** A column without a name, or with one that appears twice, is `columnN` by its place. */
function nameColumns(described: DescribedStatement['columns'], types: TypeLookup, isQuery: boolean): readonly Column[] {
  const names = described.map(({ name }) => name);
  return described.map(({ name, type }, index) => {
    const isUnique = names.indexOf(name) === names.lastIndexOf(name);
    const facts = types(type, 'a statement of a file');
    return {
      name: name === '?column?' || !isUnique ? `column${index + 1}` : name,
      // Only a query of WITH can be converted.
      type: facts.json === 'converted' && !isQuery ? { ...facts, json: 'string' } : facts,
    };
  });
}

/** A type of which only the JSON matters, as PostgreSQL makes it. */
function jsonType(types: TypeLookup): TypeFacts {
  const { element: _element, fields: _fields, labels: _labels, ...text } = types(textOid, 'a statement of a file');
  return {
    ...text,
    sql: '"pg_catalog"."json"',
    display: 'json',
    oid: 114,
    baseOid: 114,
    json: 'json',
    textual: false,
    builtin: 'json',
  };
}

interface FileResult {
  readonly result: RoutineResult;
  readonly faults: readonly FileFault[];
}

/** Returns the result of the file. */
export function resolveResult(name: Routine['name'], parsed: ParsedFile, rows: readonly StatementRows[]): FileResult {
  const wide = parsed.statements.flatMap(({ directive }, index) => refuseScalar(directive, rows[index]!));
  if (wide.length > 0) return { result: nothing, faults: wide };
  if (parsed.directives.isVoid) return { result: nothing, faults: [] };
  if (isOneResult(parsed)) return { result: singleResult(name, rows.at(-1)!), faults: [] };
  const members = listMembers(parsed, rows);
  const unknown = [...parsed.directives.resultNames].flatMap(([number, { line }]) =>
    members.some((member) => member.number === number) ? [] : [unknownResult(number, line)],
  );
  const notParts = members.flatMap(({ index }) => {
    if (rows[index]!.isQuery) return [];
    const { source } = parsed.statements[index]!;
    const word = mainWord(source);
    const message = `the result of ${word} cannot be a part of an object; write skip before it, or put it into a file of its own`;
    return [faultAt(parsed.text, source.tokens[mainStart(source)]!.start, 'sql-file', message)];
  });
  const faults = [...unknown, ...notParts];
  const columns = members.map(({ name: member, index }) => ({
    name: member,
    type: memberType(rows[index]!),
    // Without a row, the first one is null.
    notNull: !rows[index]!.isSingle || rows[index]!.kind === 'count',
  }));
  if (columns.length === 0) return { result: nothing, faults };
  return { result: { kind: 'composite', set: false, columns, named: false, display: 'object' }, faults };
}

function unknownResult(number: number, line: number): FileFault {
  const message = `the response has no result ${number}; correct the number, or write result before the statement`;
  return { code: 'sql-file', line, message };
}

/** Returns the fault of a statement that is `scalar` and does not have exactly one column. */
function refuseScalar({ scalarLine: line }: StatementDirective, { columns }: StatementRows): readonly FileFault[] {
  if (line === undefined || columns.length === 1) return [];
  const message = `scalar is the value of the only column of a statement, and this one has ${columns.length} columns; write single for the first row, or select one column`;
  return [{ code: 'sql-file', line, message }];
}

/** Whether the response is the result of the last statement. */
export function isOneResult({ statements, directives }: ParsedFile): boolean {
  return statements.length === 1 || directives.isLast;
}

/** A member of the response with its statement. */
export interface Member {
  readonly name: string;
  readonly index: number;
  /** From 1, among all results. */
  readonly number: number;
}

/** Returns the statements whose results the response has, in their order. */
export function listMembers({ statements, directives }: ParsedFile, rows: readonly StatementRows[]): readonly Member[] {
  const members: Member[] = [];
  let number = 0;
  for (const [index, { directive }] of statements.entries()) {
    if (rows[index]!.kind === 'none') continue;
    number++;
    if (directive.isSkipped === true) continue;
    const name = directive.name ?? directives.resultNames.get(number)?.name ?? `result${number}`;
    members.push({ name, index, number });
  }
  return members;
}

const nothing: RoutineResult = { kind: 'void', set: false, columns: [], named: false, display: 'void' };

function singleResult(name: string, { kind, columns, isSingle }: StatementRows): RoutineResult {
  if (kind === 'none' || kind === 'count') return nothing;
  const set = !isSingle;
  if (kind === 'values') {
    const [column] = columns as readonly [Column];
    const display = set ? `SETOF ${column.type.display}` : column.type.display;
    return { kind: 'scalar', set, columns: [{ ...column, name: column.name || name }], named: false, display };
  }
  const shown = columns.map((column) => `${column.name} ${column.type.display}`);
  return { kind: 'composite', set, columns, named: isSingle, display: `TABLE(${shown.join(', ')})` };
}

/** The types of a member, for clients: its JSON is made by PostgreSQL. */
function memberType({ kind, isSingle, columns, json }: StatementRows): TypeFacts {
  if (kind === 'count')
    return {
      ...json,
      sql: '"pg_catalog"."int8"',
      display: 'bigint',
      oid: 20,
      baseOid: 20,
      json: 'number',
      builtin: 'int8',
    };
  const row: TypeFacts =
    kind === 'values' ? columns[0]!.type : { ...json, kind: 'composite', builtin: null, fields: columns };
  return isSingle ? { ...row, json: 'json', baseOid: 114 } : { ...json, builtin: null, element: row };
}
