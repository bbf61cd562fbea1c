import type { Endpoint, ResultColumn, ResultShape } from './endpoint.ts';
import type { NamedColumn, NamedType } from './named-type.ts';
import type { NameConverter } from './parameters.ts';

/** The types whose values a JSON parser of double precision may change. */
const largeNumberTypes: ReadonlySet<string | null> = new Set(['int8', 'numeric']);

const convertedTypes = new WeakMap<NamedType, NamedType>();
const convertedColumns = new WeakMap<readonly NamedColumn[], readonly NamedColumn[]>();

/** Returns the type with `int8` and `numeric`, at any depth, as strings in JSON. Returns a type without them unchanged. */
function withNumberTexts(type: NamedType): NamedType {
  const known = convertedTypes.get(type);
  if (known !== undefined) return known;
  const converted = convertType(type);
  convertedTypes.set(type, converted);
  return converted;
}

function convertType(type: NamedType): NamedType {
  if (type.json === 'number' && largeNumberTypes.has(type.builtin)) return { ...type, json: 'numberText' };
  if (type.element !== undefined) {
    const element = withNumberTexts(type.element);
    return element === type.element ? type : { ...type, element };
  }
  if (type.fields === undefined) return type;
  const fields = convertColumns(type.fields);
  return fields === type.fields ? type : { ...type, fields };
}

/** Routines that return one named type share the result. */
function convertColumns<Item extends NamedColumn>(columns: readonly Item[]): readonly Item[] {
  const known = convertedColumns.get(columns);
  if (known !== undefined) return known as readonly Item[];
  const types = columns.map(({ type }) => withNumberTexts(type));
  const isSame = types.every((type, index) => type === columns[index]!.type);
  const converted = isSame ? columns : columns.map((column, index) => ({ ...column, type: types[index]! }));
  convertedColumns.set(columns, converted);
  return converted;
}

/** Returns the converter of an endpoint whose parameters and results have large numbers as strings. */
export function convertToNumberTexts(names: NameConverter): NameConverter {
  return {
    convertName: names.convertName,
    convertType: (type) => withNumberTexts(names.convertType(type)),
    convertColumns: (columns) => convertColumns(names.convertColumns(columns)),
  };
}

/** Returns the result with large numbers as strings in its JSON. Returns a result without them unchanged. */
export function withLargeNumberTexts(result: ResultShape): ResultShape {
  if ('columns' in result) {
    const columns = convertColumns<ResultColumn>(result.columns);
    return columns === result.columns ? result : { ...result, columns };
  }
  // A single number is the whole text of its response.
  if (!('column' in result) || (result.kind === 'value' && result.media !== 'json')) return result;
  const type = withNumberTexts(result.column.type);
  return type === result.column.type ? result : { ...result, column: { ...result.column, type } };
}

/** Whether clients can request large numbers as strings. */
export function negotiatesLargeNumbers({ largeNumbers, result, raw, contentType }: Endpoint): boolean {
  if (largeNumbers !== 'negotiated' || raw !== null || contentType !== null) return false;
  return withLargeNumberTexts(result) !== result;
}
