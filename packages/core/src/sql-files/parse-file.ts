import {
  type Directives,
  listRenames,
  type ParameterDirective,
  readDirectives,
  type StatementDirective,
} from './directives.ts';
import { faultAt, type FileFault } from './fault.ts';
import { type FileValueQuery, readFileValueQueries } from './file-value-queries.ts';
import { type FileComment, type FileStatement, maxFaults, scanFile } from './scan.ts';
import { isSurrounding, mainStart, refuseStatement } from './statement-rules.ts';

/** A text of the file whose parameters are `$1`, `$2`, … */
export interface NumberedText {
  /** The places of the text and its parameters in the file. */
  readonly source: Pick<FileStatement, 'start' | 'end' | 'placeholders'>;
  /** The queries of WITH, without the main statement; empty without WITH. */
  readonly prefix: string;
  /** The main statement. */
  readonly main: string;
  /** The names of `$1`, `$2`, … */
  readonly names: readonly string[];
}

export interface ParsedStatement extends NumberedText {
  readonly source: FileStatement;
  readonly directive: StatementDirective;
}

/** A query that sets a parameter. */
export interface ParsedQuery extends NumberedText {
  readonly source: FileValueQuery;
}

export interface ParsedFile {
  readonly text: string;
  readonly statements: readonly ParsedStatement[];
  /** The queries that set parameters. */
  readonly queries: readonly ParsedQuery[];
  readonly directives: Directives;
  /** All parameters, in the order of their first use; those that only queries read, and those of `define_param`, follow. */
  readonly parameters: readonly ParameterDirective[];
  readonly faults: readonly FileFault[];
}

/** Whether the comments have an `HTTP` line, without which the file is not an endpoint. */
const httpLine = /^@?[^\S\n]*http\b/im;

/** `param :id` and `:id = select …`: the name as the statement has it. */
const colonOfName = /^((?:@\s*)?param(?:eter)?\s+|(?:@\s*)?(?=:\w+\s*:?=)):(?=[A-Za-z_])/i;

function withoutColon(comment: FileComment): FileComment {
  if (!comment.text.includes(':')) return comment;
  const text = comment.text.replace(colonOfName, '$1');
  return { ...comment, text, start: comment.start + comment.text.length - text.length };
}

/** Returns null for a file that is not an endpoint. */
export function parseFile(text: string): ParsedFile | null {
  const scanned = scanFile(text);
  const statements = withoutTransaction(scanned.statements);
  const shift = statements.length < scanned.statements.length && scanned.statements[0] !== statements[0] ? 1 : 0;
  const comments = scanned.comments.map((written): FileComment => {
    const comment = withoutColon(written);
    return shift === 0 ? comment : { ...comment, statement: Math.max(0, comment.statement - shift) };
  });
  const own = parameterNames(statements);
  const renames = listRenames(comments);
  const values = readFileValueQueries(text, comments, (name) => own.includes(name) || renames.has(name));
  const read = values.queries.flatMap(({ placeholders }) => placeholders.map(({ name }) => name));
  const names = orderNames([...own, ...read.filter((name) => !renames.has(name))]);
  const directives = readDirectives(comments, { names: new Set(names), renames });
  if (statements.length === 0 || !httpLine.test(directives.comment)) return null;
  const defined = [...directives.parameters.values()].filter(({ name }) => !names.includes(name));
  const tooMany = findExcess(text, statements, [...names, ...defined]);
  const faults = [
    ...scanned.faults.map(({ at, message }) => faultAt(text, at, 'sql-file', message)),
    ...directives.faults.map(({ line, message }) => ({ code: 'sql-file', line, message })),
    ...refuseStatements(text, statements),
    ...findParameterFaults(text, statements, own),
    ...values.faults,
    ...findNumberedInputs(text, values.queries, own),
    ...tooMany,
  ].slice(0, maxFaults);
  if (tooMany.length > 0) return { text, statements: [], queries: [], directives, parameters: [], faults };
  const parameters = names.map((name) => directives.parameters.get(name) ?? { name, line: 0 });
  return {
    text,
    statements: statements.map((source, index) => ({
      source,
      ...numberParameters(text, source, directives.parameters),
      directive: directives.statements.get(index) ?? {},
    })),
    queries: values.queries.map((source) => numberQuery(text, source, { parameters: directives.parameters, renames })),
    directives,
    parameters: [...parameters, ...defined],
    faults,
  };
}

/** A parameter of `define_param` that no text of the file uses. */
export type DefinedParameter = ParameterDirective & { readonly type: string };

export function listDefinedParameters({ parameters, statements, queries }: ParsedFile): readonly DefinedParameter[] {
  const used = new Set([...statements, ...queries].flatMap(({ names }) => names));
  return parameters.filter(
    (parameter): parameter is DefinedParameter =>
      parameter.isDefined === true && parameter.type !== undefined && !used.has(parameter.name),
  );
}

export const maxStatements = 1000;
export const maxParameters = 1000;

/** Returns the fault of a file with more statements or parameters than an endpoint can have. */
function findExcess(
  text: string,
  statements: readonly FileStatement[],
  parameters: readonly unknown[],
): readonly FileFault[] {
  const excess = (number: number, what: string, limit: number, advice: string): readonly FileFault[] =>
    number <= limit
      ? []
      : [
          faultAt(
            text,
            statements[0]!.start,
            'sql-file',
            `the file has ${number} ${what}; at most ${limit}: ${advice}`,
          ),
        ];
  return [
    ...excess(statements.length, 'statements', maxStatements, 'write a function or several files'),
    ...excess(parameters.length, 'parameters', maxParameters, 'pass an array or JSON'),
  ];
}

function refuseStatements(text: string, statements: readonly FileStatement[]): readonly FileFault[] {
  const refused = statements.flatMap((statement) => {
    const reason = refuseStatement(statement, text);
    return reason === null ? [] : [{ at: statement.start, reason }];
  });
  return refused.slice(0, maxFaults).map(({ at, reason }) => faultAt(text, at, 'sql-file', reason));
}

/** Omits `begin` and `commit` around the statements. */
function withoutTransaction(statements: readonly FileStatement[]): readonly FileStatement[] {
  const [first, last] = [statements[0], statements.at(-1)];
  const isAround = statements.length > 2 && isSurrounding(first!, 'first') && isSurrounding(last!, 'last');
  return isAround ? statements.slice(1, -1) : statements;
}

function parameterNames(statements: readonly FileStatement[]): readonly string[] {
  return orderNames(statements.flatMap(({ placeholders }) => placeholders.map(({ name }) => name)));
}

/** Returns each name once: `$1`, `$2`, … by number, and others in their order. */
function orderNames(all: readonly string[]): readonly string[] {
  const names = [...new Set(all)];
  const isNumbered = names.length > 0 && names.every((name) => name.startsWith('$'));
  return isNumbered ? names.toSorted((left, right) => Number(left.slice(1)) - Number(right.slice(1))) : names;
}

function findParameterFaults(
  text: string,
  statements: readonly FileStatement[],
  names: readonly string[],
): readonly FileFault[] {
  const numbered = names.filter((name) => name.startsWith('$'));
  const all = statements.flatMap(({ placeholders }) => placeholders);
  if (numbered.length > 0 && numbered.length < names.length) {
    const other = all.find(({ name }) => name.startsWith('$') !== all[0]!.name.startsWith('$'))!;
    const message = `the file has parameters of both styles, "${all[0]!.name}" and "${other.name}"; use :name or $1 everywhere`;
    return [faultAt(text, other.start, 'sql-file', message)];
  }
  const missing = numbered.findIndex((name, index) => name !== `$${index + 1}`);
  if (missing === -1) return [];
  const culprit = all.find(({ name }) => name === numbered[missing])!;
  return [
    faultAt(
      text,
      culprit.start,
      'sql-file',
      `there is no $${missing + 1}, but a $${numbered[missing]!.slice(1)}; number the parameters from $1`,
    ),
  ];
}

/** Returns the faults of queries that read `$1` in a file whose parameters have names. */
function findNumberedInputs(
  text: string,
  queries: readonly FileValueQuery[],
  names: readonly string[],
): readonly FileFault[] {
  if (names.every((name) => name.startsWith('$'))) return [];
  return queries.flatMap(({ target, placeholders }) =>
    placeholders
      .filter(({ name }) => name.startsWith('$'))
      .map(({ name, start }) => {
        const message = `param ${target}: the parameters of the file have names, and none is "${name}"; write :name`;
        return faultAt(text, start, 'value-query', message);
      }),
  );
}

type Parameters = Directives['parameters'];

/**
 * Returns the statement with `$1`, `$2`, … for its parameters.
 * @param stored the SQL of parameters that are not bound
 */
export function numberParameters(
  text: string,
  source: FileStatement,
  parameters: Parameters,
  stored: ReadonlyMap<string, string> = new Map(),
): Omit<NumberedText, 'source'> {
  const names = parameterNames([source]).filter((name) => !stored.has(name));
  const write = (name: string): string => stored.get(name) ?? writeNumber(names.indexOf(name), parameters.get(name));
  const start = source.tokens[mainStart(source)]!.start;
  return {
    prefix: substitute(text, source, [source.start, start], write),
    main: substitute(text, source, [start, source.end], write),
    names,
  };
}

function writeNumber(index: number, parameter: ParameterDirective | undefined): string {
  return parameter?.type === undefined ? `$${index + 1}` : `($${index + 1}::${parameter.type})`;
}

/** A claim is a text: the query converts it. */
function numberQuery(
  text: string,
  source: FileValueQuery,
  { parameters, renames }: { readonly parameters: Parameters; readonly renames: ReadonlyMap<string, string> },
): ParsedQuery {
  const toName = (name: string): string => renames.get(name) ?? name;
  const names = [...new Set(source.placeholders.map(({ name }) => toName(name)))];
  const write = (name: string): string => {
    const directive = parameters.get(toName(name));
    return writeNumber(
      names.indexOf(toName(name)),
      directive?.claim === undefined ? directive : { ...directive, type: 'text' },
    );
  };
  return { source, prefix: '', main: substitute(text, source, [source.start, source.end], write), names };
}

function substitute(
  text: string,
  { placeholders }: Pick<FileStatement, 'placeholders'>,
  [from, to]: readonly [number, number],
  write: (name: string) => string,
): string {
  let sql = '';
  let position = from;
  for (const { name, start, end } of placeholders) {
    if (start < from || start >= to) continue;
    sql += text.slice(position, start) + write(name);
    position = end;
  }
  return sql + text.slice(position, to);
}

/**
 * Returns the place in the file of a position that PostgreSQL reports.
 * @param position in characters, from 1
 */
export function placeInFile({ text }: ParsedFile, { source, prefix, main }: NumberedText, position: number): number {
  const sql = prefix + main;
  // PostgreSQL counts code points.
  const left = Array.from(sql)
    .slice(0, position - 1)
    .join('').length;
  let at = source.start;
  let consumed = 0;
  for (const { start, end } of source.placeholders) {
    const plain = start - at;
    if (left <= consumed + plain) return at + Math.max(0, left - consumed);
    consumed += plain;
    const written = /^(?:\(\$\d+::[^)]*(?:\([^)]*\)[^)]*)?\)|\$\d+)/.exec(sql.slice(consumed))?.[0].length ?? 0;
    if (left < consumed + written) return start;
    consumed += written;
    at = end;
  }
  return Math.min(text.length, at + left - consumed);
}
