import { Problem } from '../../http/problem.ts';
import type { Endpoint, EndpointParameter, ParameterField } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';
import { truncateKey } from '../../http/json-reader.ts';
import { readElements, sliceToJson, type JsonSlice, readMembers, sliceToText } from '../../http/json-slice.ts';
import { arrayLiteral, nestedArrayLiteral, hstoreLiteral, recordLiteral } from '../../postgres/literal.ts';

/** The key that problems name, and the type of its value. */
export interface ValueTarget {
  readonly key: string;
  readonly type: NamedType;
  /** Whether the key may be repeated, and its value is a JSON array of all texts. */
  readonly repeatable?: true;
}

/** Whether a text of a query string means NULL. */
function isNullText(text: string, textual: boolean, rule: Endpoint['queryStringNullHandling']): boolean {
  if (text === '') return rule === 'emptyString' || !textual;
  return rule === 'nullLiteral' && text.toLowerCase() === 'null';
}

/** Converts the texts of a query string key or path parameter to PostgreSQL's text format. Repeated keys are array elements. */
export function textsToValue(
  target: ValueTarget,
  texts: readonly string[],
  rule: Endpoint['queryStringNullHandling'],
): string | null {
  const { element, textual } = target.type;
  if (element !== undefined) {
    const items = texts.map((text) =>
      isNullText(text, element.textual, rule) ? null : requireWellFormed(target, text),
    );
    return listLiteral(target.type, items);
  }
  if (texts.length > 1) {
    throw new Problem('repeated-parameter', {
      detail: `The parameter "${target.key}" appears ${texts.length} times, but takes one value.`,
      members: { parameters: [target.key] },
    });
  }
  const text = texts[0]!;
  return isNullText(text, textual, rule) ? null : requireWellFormed(target, text);
}

/** Converts all texts of a query string key to a JSON array of strings and nulls. */
export function textsToJsonArray(
  target: ValueTarget,
  texts: readonly string[],
  rule: Endpoint['queryStringNullHandling'],
): string {
  const { textual } = target.type;
  return JSON.stringify(
    texts.map((text) => (isNullText(text, textual, rule) ? null : requireWellFormed(target, text))),
  );
}

/** Converts the value of a repeatable key in a JSON body to a JSON array of strings and nulls. An array has the values of several keys. */
export function slicesToJsonArray(target: ValueTarget, slice: JsonSlice): string {
  const slices = slice.kind === 'array' ? readElements(slice) : [slice];
  return JSON.stringify(slices.map((each) => jsonToValue(target, each)));
}

/**
 * The meaning of a JSON string for the types `json` and `jsonb`.
 * - `text`: the text of a JSON document, for parameters of routines
 * - `value`: a string, for columns of tables, as in their responses
 */
export type JsonStringMeaning = 'text' | 'value';

/** Converts a value of a JSON body to PostgreSQL's text format. Numbers keep all digits, and `json` values their text. */
export function jsonToValue(target: ValueTarget, slice: JsonSlice, strings: JsonStringMeaning = 'text'): string | null {
  const { json, jsonInput } = target.type;
  if (slice.kind === 'null') return null;
  if (json === 'json') return requireWellFormed(target, strings === 'value' ? sliceToJson(slice) : sliceToText(slice));
  const isStructured = slice.kind === 'array' || slice.kind === 'object';
  if (isStructured && jsonInput === 'json') return requireWellFormed(target, sliceToJson(slice));
  if (slice.kind === 'object' && jsonInput === 'hstore') return requireWellFormed(target, jsonToHstore(slice));
  if (slice.kind === 'array') return jsonToArray(target, slice, strings);
  if (slice.kind === 'object') return jsonToRecord(target, slice, strings);
  return requireWellFormed(target, sliceToText(slice));
}

/** PostgreSQL's `MAXDIM`. */
const maxDimensions = 6;

/** The depth of arrays that a value of the type can have: an element may be a domain over an array. */
function maxArrayDepth({ element }: NamedType): number {
  return element === undefined ? 0 : maxDimensions + maxArrayDepth(element);
}

/** Converts an object to hstore, whose values are texts. */
function jsonToHstore(object: JsonSlice): string {
  const pairs = [...readMembers(object)].map(([key, slice]): [string, string | null] => [
    key,
    slice.kind === 'null' ? null : sliceToText(slice),
  ]);
  return hstoreLiteral(pairs);
}

/** @param outer the number of arrays around this one */
function jsonToArray(target: ValueTarget, array: JsonSlice, strings: JsonStringMeaning, outer = 0): string {
  const { element } = target.type;
  if (element === undefined) throw wrongKind(target, array);
  const holdsJson = element.json === 'json' || element.jsonInput === 'json';
  // Each level parses its text again: too deep nesting is refused before that.
  if (!holdsJson && outer + countOpeningBrackets(array) > maxArrayDepth(target.type)) throw tooManyDimensions(target);
  const items = readElements(array);
  // If the element type is a domain over an array, each item is a value of it, not a further dimension.
  const nested =
    !holdsJson && element.element === undefined && items.length > 0 && items.every(({ kind }) => kind === 'array');
  if (nested) {
    const dimensions = items.map((item) => jsonToArray(target, item, strings, outer + 1));
    return nestedArrayLiteral(dimensions, element.delimiter);
  }
  const elements = items.map((item) => jsonToValue({ key: target.key, type: element }, item, strings));
  return listLiteral(target.type, elements);
}

/** Array types whose text format has no braces: `1 2 3`. Their elements cannot be NULL. */
const vectorTypes: ReadonlySet<string | null> = new Set(['int2vector', 'oidvector']);

function listLiteral({ builtin, element }: NamedType, items: readonly (string | null)[]): string {
  if (vectorTypes.has(builtin)) return items.map((item) => item ?? 'NULL').join(' ');
  return arrayLiteral(items, element?.delimiter);
}

const openings = /[[ \t\n\r]*/y;

/** Counts the arrays that begin at the start of this one, itself included. */
function countOpeningBrackets({ text, start }: JsonSlice): number {
  openings.lastIndex = start;
  return openings.exec(text)![0].replaceAll(/[^[]/g, '').length;
}

function tooManyDimensions({ key, type }: ValueTarget): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${key}" takes ${type.display}; its value is nested deeper than the ${maxDimensions} dimensions that an array of PostgreSQL can have.`,
    members: { parameters: [key] },
  });
}

/** Converts an object to a composite value. Missing fields are NULL; keys are converted or original names. */
function jsonToRecord(target: ValueTarget, object: JsonSlice, strings: JsonStringMeaning): string {
  const { fields } = target.type;
  if (fields === undefined) throw wrongKind(target, object);
  const members = new Map(readMembers(object));
  const values = fields.map((field) => {
    const name = members.has(field.key) ? field.key : field.name;
    const member = members.get(name);
    members.delete(name);
    const fieldTarget = { key: `${target.key}.${field.key}`, type: field.type };
    return member === undefined ? null : jsonToValue(fieldTarget, member, strings);
  });
  const [unknown] = members.keys();
  if (unknown === undefined) return recordLiteral(values);
  throw new Problem('unknown-parameter', {
    detail: `"${truncateKey(unknown)}" is not a field of "${target.key}", which has ${fields.map(({ key }) => `"${key}"`).join(', ')}.`,
    members: { unknown: [`${target.key}.${truncateKey(unknown)}`] },
  });
}

function wrongKind(target: ValueTarget, slice: JsonSlice): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${target.key}" takes ${target.type.display}, not a JSON ${slice.kind}.`,
    members: { parameters: [target.key] },
  });
}

const loneSurrogate = /\p{Surrogate}/u;

/** Refuses lone surrogates: they have no UTF-8 form and would become another character. */
function requireWellFormed(target: ValueTarget, text: string): string {
  if (!loneSurrogate.test(text)) return text;
  throw new Problem('invalid-parameter', {
    detail: `The parameter "${target.key}" holds a lone surrogate, which is not a character.`,
    members: { parameters: [target.key] },
  });
}

/** Returns the value of a composite parameter that is given field by field. */
export function fieldsToRecord(
  parameter: EndpointParameter,
  valueOfField: (field: ParameterField) => string | null,
): string {
  return recordLiteral(parameter.fields!.map(valueOfField));
}
