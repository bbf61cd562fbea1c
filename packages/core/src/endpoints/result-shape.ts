import { quoteIdentifier } from '../catalog/quote.ts';
import type { Routine, RoutineResult } from '../catalog/routine.ts';
import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import { display } from './diagnostic.ts';
import type { OutputColumn, RawFormat, ResultColumn, ResultShape } from './endpoint.ts';
import type { EndpointOptions } from './options.ts';
import type { NameConverter, ReportProblem } from './parameters.ts';
import { describeDuplicateName } from './named-type.ts';
import type { EndpointBuilder, Overrides } from './endpoint-builder.ts';

/** What stops the endpoint, and what its author should know. */
interface Reports {
  readonly refuse: ReportProblem;
  readonly warn: ReportProblem;
}

/** Shapes of a result that `returns` can declare. */
type Shape = Pick<RoutineResult, 'kind' | 'set' | 'columns' | 'named'>;

/** The shape of a routine's answer, by its declared result and by how composite columns are to be written. */
export function resolveResultShape(
  routine: Routine,
  { convertName: convert, convertType: keyed }: NameConverter,
  composites: EndpointOptions['compositeColumns'],
  reports: Reports,
): ResultShape {
  const { refuse } = reports;
  const shape = routine.kind === 'procedure' ? procedureShape(routine.result) : routine.result;
  const columns = shape.columns.map((column) => ({
    name: column.name,
    key: convert(column.name) || column.name,
    type: keyed(column.type),
  }));
  switch (shape.kind) {
    case 'void':
      return { kind: 'nothing' };
    case 'record':
      return { kind: shape.set ? 'records' : 'record' };
    case 'scalar':
      refuseSharedFields(columns, refuse);
      return scalarAnswer(routine, columns, shape.set);
    case 'composite':
      return {
        ...rowAnswer(composites === 'flat' ? flattened(columns, refuse) : columns, shape, reports),
        ...rowType(routine),
      };
  }
}

/** A procedure with output parameters gives one row of them, also when there is only one. */
function procedureShape(result: RoutineResult): Shape {
  if (result.kind === 'void' || result.columns.length === 0) return { ...result, kind: 'void' };
  return { kind: 'composite', set: false, columns: result.columns.map(asText), named: false };
}

/**
 * The text of a record without a type cannot be read again, so that PostgreSQL cannot be asked for the JSON of what CALL gave. The
 * plan says so by giving such a column the JSON form of a string.
 */
function asText(column: Column): Column {
  return isUnreadable(column.type) ? { name: column.name, type: { ...column.type, json: 'string' } } : column;
}

function isUnreadable({ kind, element }: TypeFacts): boolean {
  return kind === 'pseudo' || (element !== undefined && isUnreadable(element));
}

/** The outputs of a procedure that are answered as PostgreSQL's text although their type has a JSON form. */
export function findTextOutputs(routine: Routine): readonly string[] {
  if (routine.kind !== 'procedure') return [];
  return routine.result.columns.filter(({ type }) => isUnreadable(type)).map(({ name }) => name);
}

/** What CALL gives, where the answer needs PostgreSQL once more: for JSON, or for the fields of a composite. */
export function resolveOutputConversion(
  routine: Routine,
  answer: ResultShape,
  raw: RawFormat | null,
): { readonly outputConversion?: readonly OutputColumn[] } {
  if (routine.kind !== 'procedure' || answer.kind !== 'object') return {};
  const { columns } = procedureShape(routine.result);
  const needed =
    raw === null
      ? columns.some(({ type }) => type.json === 'converted')
      : answer.columns.some(({ parentColumn }) => parentColumn !== undefined);
  if (!needed) return {};
  return {
    outputConversion: columns.map(({ name, type }) => ({ name, type: type.json === 'converted' ? type.sql : null })),
  };
}

/** Of an operation on a table, the table's own. */
function rowType({ result, table, schema, name }: Routine): { readonly rowType?: string } {
  if (table !== undefined) return { rowType: `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` };
  return result.named && result.type !== undefined ? { rowType: result.type.sql } : {};
}

type RowAnswer = Extract<ResultShape, { readonly kind: 'object' | 'objects' }>;

function rowAnswer(columns: readonly ResultColumn[], { set, named }: Shape, { refuse, warn }: Reports): RowAnswer {
  for (const [one, other] of sharing(columns, 'key')) {
    // Fields of composites come together from several authors, and a client may well know which one it wants.
    if (isField(one) || isField(other))
      warn('duplicate-column', `${sameText(one, other, 'key')}, which each row has twice`);
    else refuse('duplicate-column', `${sameText(one, other, 'key')}; rename one of them`);
  }
  refuseSharedFields(columns, refuse);
  return set ? { kind: 'objects', columns } : { kind: 'object', columns, nullable: named };
}

const isField = ({ parentColumn }: ResultColumn): boolean => parentColumn !== undefined;

/** Composite columns as their fields. A field is found by the name of its column, so no two columns may have one name. */
function flattened(columns: readonly ResultColumn[], refuse: ReportProblem): readonly ResultColumn[] {
  for (const [one, other] of sharing(columns, 'name')) {
    refuse('duplicate-column', `${sameText(one, other, 'name')}; rename one of them`);
  }
  return columns.flatMap(fieldsOf);
}

/**
 * A composite column as its fields, under their own names; composites among these stay as they are. One without fields has
 * nothing to put in its place.
 */
function fieldsOf(column: ResultColumn): readonly ResultColumn[] {
  const { kind, json, fields } = column.type;
  if (kind !== 'composite' || json !== 'converted' || fields === undefined || fields.length === 0) return [column];
  return fields.map(({ name, key, type }) => ({ name, parentColumn: column.name, key, type }));
}

function scalarAnswer(routine: Routine, columns: readonly ResultColumn[], set: boolean): ResultShape {
  const column = columns[0];
  if (column === undefined) throw new TypeError(`The catalog gives no column for the result of ${routine.signature}`);
  return set ? { kind: 'values', column } : { kind: 'value', column, media: mediaOf(column) };
}

/**
 * json, arrays and composites are JSON; bytea is bytes; the rest is text. Types that merely have a cast to json (hstore)
 * are text too when they stand alone: only as a member of something JSON do they have to be JSON.
 */
function mediaOf({ type }: ResultColumn): 'text' | 'json' | 'bytes' {
  if (type.builtin === 'bytea') return 'bytes';
  if (type.json === 'json' || type.element !== undefined || type.kind === 'composite') return 'json';
  return 'text';
}

/** Pairs of columns with one key or name. A JSON object with one key twice lies to most of its readers: they see one of the values. */
function sharing(
  columns: readonly ResultColumn[],
  what: 'key' | 'name',
): readonly (readonly [one: ResultColumn, other: ResultColumn])[] {
  const seen = new Map<string, ResultColumn>();
  return columns.flatMap((column) => {
    const other = seen.get(column[what]);
    seen.set(column[what], column);
    return other === undefined ? [] : [[other, column] as const];
  });
}

function sameText(one: ResultColumn, other: ResultColumn, what: 'key' | 'name'): string {
  return `the columns ${label(one)} and ${label(other)} have one ${what}, ${display(other[what])}`;
}

/** The same for the objects inside, at any depth of the columns that PostgreSQL makes JSON of. */
function refuseSharedFields(columns: readonly ResultColumn[], refuse: ReportProblem): void {
  const converted = columns.filter(({ type }) => type.json === 'converted');
  const messages = converted.map(({ type }) => describeDuplicateName(type, ({ key }) => [key]));
  for (const message of new Set(messages)) if (message !== null) refuse('duplicate-field', message);
}

function label({ name, parentColumn }: ResultColumn): string {
  return display(parentColumn === undefined ? name : `${parentColumn}.${name}`);
}

const companions: readonly (keyof Overrides)[] = ['separator', 'newLine', 'columnNames'];

/**
 * Raw mode as the comment asks for it; null without. What belongs to it does not switch it on: `names` and `columns` begin
 * many a line of prose, and a client that is answered JSON would suddenly get something else.
 */
export function resolveRawFormat(builder: EndpointBuilder, answer: ResultShape): RawFormat | null {
  const { raw, separator, newLine, columnNames } = builder.overrides;
  if (raw !== true) {
    for (const key of companions) warnOfNoEffect(builder, key, 'without raw');
    return null;
  }
  if (answer.kind === 'nothing') {
    for (const key of ['raw', ...companions] as const) warnOfNoEffect(builder, key, 'where the routine gives nothing');
    return null;
  }
  const nameless = answer.kind === 'record' || answer.kind === 'records';
  if (nameless) warnOfNoEffect(builder, 'columnNames', 'where only the call knows the columns');
  return { separator, newLine, columnNames: columnNames === true && !nameless };
}

function warnOfNoEffect(builder: EndpointBuilder, key: keyof Overrides, where: string): void {
  const use = builder.annotationFor(key);
  if (use === null || builder.overrides[key] === false) return;
  builder.report('warning', 'no-effect', `${use.name} has no effect ${where}`, use.line);
}
