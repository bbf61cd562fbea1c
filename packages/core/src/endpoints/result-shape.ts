import { quoteIdentifier } from '../catalog/quote.ts';
import type { Routine, RoutineResult } from '../catalog/routine.ts';
import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import { deepFreeze } from './deep-freeze.ts';
import { display } from './diagnostic.ts';
import type { OutputColumn, RawFormat, ResultColumn, ResultShape } from './endpoint.ts';
import type { EndpointOptions } from './options.ts';
import type { NameConverter, ReportProblem } from './parameters.ts';
import { describeDuplicateName } from './named-type.ts';
import { columnNames, newLine, raw, separator } from './annotations/raw.ts';
import type { Setting, SettingKey } from './comment/setting.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';

/** Functions that report errors and warnings about an endpoint. */
interface Reporters {
  readonly reportError: ReportProblem;
  readonly reportWarning: ReportProblem;
}

/** The parts of a declared result that decide the result shape. */
type DeclaredResult = Pick<RoutineResult, 'kind' | 'set' | 'columns' | 'named'>;

/** Returns the result shape for the declared result of a routine. */
export function resolveResultShape(
  routine: Routine,
  { convertColumns }: NameConverter,
  composites: EndpointOptions['compositeColumns'],
  reporters: Reporters,
): ResultShape {
  const { reportError } = reporters;
  const shape = routine.kind === 'procedure' ? toProcedureResult(routine.result) : routine.result;
  const columns = convertColumns(shape.columns);
  switch (shape.kind) {
    case 'void':
      return { kind: 'nothing' };
    case 'record':
      return { kind: shape.set ? 'records' : 'record' };
    case 'scalar':
      reportDuplicateFields(columns, reportError);
      return createScalarShape(routine, columns, shape.set);
    case 'composite':
      return {
        ...deepFreeze(
          createRowShape(composites === 'flat' ? flattenColumns(columns, reportError) : columns, shape, reporters),
        ),
        ...getRowType(routine),
      };
  }
}

/** A procedure with output parameters returns one row, even for a single parameter. */
function toProcedureResult(result: RoutineResult): DeclaredResult {
  if (result.kind === 'void' || result.columns.length === 0) return { ...result, kind: 'void' };
  return { kind: 'composite', set: false, columns: result.columns.map(toTextColumn), named: false };
}

/** PostgreSQL cannot parse the text of an untyped record, so the second statement cannot convert it: it becomes a string. */
function toTextColumn(column: Column): Column {
  return isUnparsable(column.type) ? { name: column.name, type: { ...column.type, json: 'string' } } : column;
}

function isUnparsable({ kind, element }: TypeFacts): boolean {
  return kind === 'pseudo' || (element !== undefined && isUnparsable(element));
}

/** Returns the outputs of a procedure that become PostgreSQL text although their type has a JSON form. */
export function findTextOutputs(routine: Routine): readonly string[] {
  if (routine.kind !== 'procedure') return [];
  return routine.result.columns.filter(({ type }) => isUnparsable(type)).map(({ name }) => name);
}

/** Returns the output columns of CALL that a second statement converts to JSON or splits into fields. */
export function resolveOutputConversion(
  routine: Routine,
  result: ResultShape,
  raw: RawFormat | null,
): { readonly outputConversion?: readonly OutputColumn[] } {
  if (routine.kind !== 'procedure' || result.kind !== 'object') return {};
  const { columns } = toProcedureResult(routine.result);
  const isNeeded =
    raw === null
      ? columns.some(({ type }) => type.json === 'converted')
      : result.columns.some(({ parentColumn }) => parentColumn !== undefined);
  if (!isNeeded) return {};
  return {
    outputConversion: columns.map(({ name, type }) => ({ name, type: type.json === 'converted' ? type.sql : null })),
  };
}

/** Returns the row type; for a table operation, the type of the table. */
function getRowType({ result, table, schema, name }: Routine): { readonly rowType?: string } {
  if (table !== undefined) return { rowType: `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` };
  return result.named && result.type !== undefined ? { rowType: result.type.sql } : {};
}

type RowShape = Extract<ResultShape, { readonly kind: 'object' | 'objects' }>;

function createRowShape(
  columns: readonly ResultColumn[],
  { set, named }: DeclaredResult,
  { reportError, reportWarning }: Reporters,
): RowShape {
  for (const [first, second] of findDuplicates(columns, 'key')) {
    // Fields of different composite types may well have the same name.
    if (isField(first) || isField(second))
      reportWarning('duplicate-column', `${describeDuplicate(first, second, 'key')}, so each row object has it twice`);
    else reportError('duplicate-column', `${describeDuplicate(first, second, 'key')}; rename one of them`);
  }
  reportDuplicateFields(columns, reportError);
  return set ? { kind: 'objects', columns } : { kind: 'object', columns, nullable: named };
}

const isField = ({ parentColumn }: ResultColumn): boolean => parentColumn !== undefined;

/** Replaces composite columns by their fields. Column names must be unique, because fields refer to them. */
function flattenColumns(columns: readonly ResultColumn[], reportError: ReportProblem): readonly ResultColumn[] {
  for (const [first, second] of findDuplicates(columns, 'name')) {
    reportError('duplicate-column', `${describeDuplicate(first, second, 'name')}; rename one of them`);
  }
  return columns.flatMap(expandFields);
}

/** Returns the fields of a composite column, and other columns unchanged. Nested composites are not replaced. */
function expandFields(column: ResultColumn): readonly ResultColumn[] {
  const { kind, json, fields } = column.type;
  if (kind !== 'composite' || json !== 'converted' || fields === undefined || fields.length === 0) return [column];
  return fields.map(({ name, key, type }) => ({ name, parentColumn: column.name, key, type }));
}

function createScalarShape(routine: Routine, columns: readonly ResultColumn[], set: boolean): ResultShape {
  const column = columns[0];
  if (column === undefined) throw new TypeError(`The catalog has no result column for ${routine.signature}`);
  return set ? { kind: 'values', column } : { kind: 'value', column, media: getMedia(column) };
}

/** A single json, array or composite value is JSON, bytea is bytes. Others are text, including types with a cast to json (hstore). */
function getMedia({ type }: ResultColumn): 'text' | 'json' | 'bytes' {
  if (type.builtin === 'bytea') return 'bytes';
  if (type.json === 'json' || type.element !== undefined || type.kind === 'composite') return 'json';
  return 'text';
}

/** Returns pairs of columns with the same key or name. Most JSON parsers keep only one of two equal keys. */
function findDuplicates(
  columns: readonly ResultColumn[],
  property: 'key' | 'name',
): readonly (readonly [first: ResultColumn, second: ResultColumn])[] {
  const seen = new Map<string, ResultColumn>();
  return columns.flatMap((column) => {
    const first = seen.get(column[property]);
    seen.set(column[property], column);
    return first === undefined ? [] : [[first, column] as const];
  });
}

function describeDuplicate(first: ResultColumn, second: ResultColumn, property: 'key' | 'name'): string {
  return `the columns ${label(first)} and ${label(second)} have the same ${property} ${display(second[property])}`;
}

/** Reports duplicate keys in nested objects of columns that PostgreSQL converts to JSON. */
function reportDuplicateFields(columns: readonly ResultColumn[], reportError: ReportProblem): void {
  const converted = columns.filter(({ type }) => type.json === 'converted');
  const messages = converted.map(({ type }) => describeDuplicateName(type, ({ key }) => [key]));
  for (const message of new Set(messages)) if (message !== null) reportError('duplicate-field', message);
}

function label({ name, parentColumn }: ResultColumn): string {
  return display(parentColumn === undefined ? name : `${parentColumn}.${name}`);
}

const rawSettings: readonly SettingKey[] = [separator, newLine, columnNames];

/** Returns the raw format, or null. Only `raw` enables raw mode: `names` and `columns` begin many lines of prose. */
export function resolveRawFormat(builder: EndpointBuilder, result: ResultShape): RawFormat | null {
  if (builder.get(raw) !== true) {
    for (const setting of rawSettings) warnOfNoEffect(builder, setting, 'without raw');
    return null;
  }
  if (result.kind === 'nothing') {
    for (const setting of [raw, ...rawSettings]) warnOfNoEffect(builder, setting, 'for routines without a result');
    return null;
  }
  const isRecord = result.kind === 'record' || result.kind === 'records';
  if (isRecord) {
    warnOfNoEffect(builder, columnNames, unknownColumns);
    warnOfRecordPlaceholder(builder);
  }
  return {
    separator: builder.get(separator),
    newLine: builder.get(newLine),
    columnNames: builder.get(columnNames) === true && !isRecord,
  };
}

const unknownColumns = 'for results whose columns are unknown before the call';

/** The statement joins the values of a record, and its text is fixed. */
function warnOfRecordPlaceholder(builder: EndpointBuilder): void {
  const placeholders = builder.get(separator)?.match(/\{[^{}]*\}/g) ?? [];
  const placeholder = placeholders.find((text) => builder.context.isParameter(text.slice(1, -1)));
  const use = builder.annotationFor(separator);
  if (placeholder === undefined || use === null) return;
  builder.report(
    'warning',
    'no-effect',
    `${display(placeholder)} in ${use.name} has no effect ${unknownColumns}`,
    use.line,
  );
}

function warnOfNoEffect(builder: EndpointBuilder, setting: SettingKey, where: string): void {
  const use = builder.annotationFor(setting);
  if (use === null || builder.get(setting as Setting<unknown>) === false) return;
  builder.report('warning', 'no-effect', `${use.name} has no effect ${where}`, use.line);
}
