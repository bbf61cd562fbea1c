import { Problem } from '../../http/problem.ts';
import type { Endpoint, EndpointParameter, ParameterField } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';
import {
  readElements,
  sliceToJson,
  type JsonSlice,
  readMembers,
  sliceToText,
  truncateKey,
} from '../../http/json-reader.ts';
import { arrayLiteral, nestedArrayLiteral, hstoreLiteral, recordLiteral } from '../../postgres/literal.ts';

/** Where a value goes, for the words of a refusal: the key that the client knows, and the type it has to fit. */
export interface ValueTarget {
  readonly key: string;
  readonly type: NamedType;
  /** The key may be repeated, and who takes the value reads all of its texts. */
  readonly repeatable?: true;
}

/** What stands for NULL in a query string, by the type of the parameter. */
function queryNull(text: string, textual: boolean, rule: Endpoint['queryStringNullHandling']): boolean {
  if (text === '') return rule === 'emptyString' || !textual;
  return rule === 'nullLiteral' && text.toLowerCase() === 'null';
}

/** The value of a key in a query string or a path, in PostgreSQL's text form. Repeated keys are the elements of an array. */
export function textsToValue(
  place: ValueTarget,
  texts: readonly string[],
  rule: Endpoint['queryStringNullHandling'],
): string | null {
  const { element, textual } = place.type;
  if (element !== undefined) {
    const items = texts.map((text) => (queryNull(text, element.textual, rule) ? null : wellFormed(place, text)));
    return listLiteral(place.type, items);
  }
  if (texts.length > 1) {
    throw new Problem('repeated-parameter', {
      detail: `The parameter "${place.key}" stands ${texts.length} times in the query string, but takes one value.`,
      members: { parameters: [place.key] },
    });
  }
  const text = texts[0]!;
  return queryNull(text, textual, rule) ? null : wellFormed(place, text);
}

/** All texts of a key in a query string, for whoever reads them: a JSON array of strings, and nulls for what means NULL. */
export function textsToJsonArray(
  place: ValueTarget,
  texts: readonly string[],
  rule: Endpoint['queryStringNullHandling'],
): string {
  const { textual } = place.type;
  return JSON.stringify(texts.map((text) => (queryNull(text, textual, rule) ? null : wellFormed(place, text))));
}

/**
 * What a JSON string is for a type that holds JSON.
 * - `text`: the text of a JSON value, as parameters of routines take it
 * - `value`: the string itself, as columns of tables take it, which give it so
 */
export type JsonStringMeaning = 'text' | 'value';

/** The value of a key in a JSON body, in PostgreSQL's text form. Numbers keep their digits, and json its text. */
export function jsonToValue(place: ValueTarget, slice: JsonSlice, strings: JsonStringMeaning = 'text'): string | null {
  const { json, jsonInput: ownJson } = place.type;
  if (slice.kind === 'null') return null;
  if (json === 'json') return wellFormed(place, strings === 'value' ? sliceToJson(slice) : sliceToText(slice));
  const isStructured = slice.kind === 'array' || slice.kind === 'object';
  if (isStructured && ownJson === 'json') return wellFormed(place, sliceToJson(slice));
  if (slice.kind === 'object' && ownJson === 'hstore') return wellFormed(place, jsonToHstore(slice));
  if (slice.kind === 'array') return jsonToArray(place, slice, strings);
  if (slice.kind === 'object') return jsonToRecord(place, slice, strings);
  return wellFormed(place, sliceToText(slice));
}

/** PostgreSQL's `MAXDIM`. */
const mostDimensions = 6;

/** How deep arrays can be nested in a value of the type; the element of an array may be a domain over another array. */
function deepestArray({ element }: NamedType): number {
  return element === undefined ? 0 : mostDimensions + deepestArray(element);
}

/** Values of hstore are texts. */
function jsonToHstore(object: JsonSlice): string {
  const pairs = [...readMembers(object)].map(([key, slice]): [string, string | null] => [
    key,
    slice.kind === 'null' ? null : sliceToText(slice),
  ]);
  return hstoreLiteral(pairs);
}

/** @param outer how many arrays of the value this one stands in */
function jsonToArray(place: ValueTarget, array: JsonSlice, strings: JsonStringMeaning, outer = 0): string {
  const { element } = place.type;
  if (element === undefined) throw wrongKind(place, array);
  const holdsJson = element.json === 'json' || element.jsonInput === 'json';
  // Each level reads its text again: what PostgreSQL would refuse is refused before that.
  if (!holdsJson && outer + countOpeningBrackets(array) > deepestArray(place.type)) throw tooManyDimensions(place);
  const items = readElements(array);
  // Where the element is itself an array, by a domain, each item is one such value and no further dimension.
  const nested =
    !holdsJson && element.element === undefined && items.length > 0 && items.every(({ kind }) => kind === 'array');
  if (nested) {
    const dimensions = items.map((item) => jsonToArray(place, item, strings, outer + 1));
    return nestedArrayLiteral(dimensions, element.delimiter);
  }
  const elements = items.map((item) => jsonToValue({ key: place.key, type: element }, item, strings));
  return listLiteral(place.type, elements);
}

/** The two types of PostgreSQL that hold a list and have no braces in their text: `1 2 3`. NULL is none of their elements. */
const vectors: ReadonlySet<string | null> = new Set(['int2vector', 'oidvector']);

function listLiteral({ builtin, element }: NamedType, items: readonly (string | null)[]): string {
  if (vectors.has(builtin)) return items.map((item) => item ?? 'NULL').join(' ');
  return arrayLiteral(items, element?.delimiter);
}

const openings = /[[ \t\n\r]*/y;

/** How many arrays begin at the start of this one, itself among them. */
function countOpeningBrackets({ text, start }: JsonSlice): number {
  openings.lastIndex = start;
  return openings.exec(text)![0].replaceAll(/[^[]/g, '').length;
}

function tooManyDimensions({ key, type }: ValueTarget): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${key}" takes ${type.display}; its value is nested deeper than the ${mostDimensions} dimensions that an array of PostgreSQL can have.`,
    members: { parameters: [key] },
  });
}

/** Fields that are not given are NULL; keys are the fields' own or converted names. */
function jsonToRecord(place: ValueTarget, object: JsonSlice, strings: JsonStringMeaning): string {
  const { fields } = place.type;
  if (fields === undefined) throw wrongKind(place, object);
  const members = new Map(readMembers(object));
  const values = fields.map((field) => {
    const name = members.has(field.key) ? field.key : field.name;
    const member = members.get(name);
    members.delete(name);
    const inside = { key: `${place.key}.${field.key}`, type: field.type };
    return member === undefined ? null : jsonToValue(inside, member, strings);
  });
  const [unknown] = members.keys();
  if (unknown === undefined) return recordLiteral(values);
  throw new Problem('unknown-parameter', {
    detail: `"${truncateKey(unknown)}" is no field of "${place.key}", which has ${fields.map(({ key }) => `"${key}"`).join(', ')}.`,
    members: { unknown: [`${place.key}.${truncateKey(unknown)}`] },
  });
}

function wrongKind(place: ValueTarget, slice: JsonSlice): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${place.key}" takes ${place.type.display}, not a JSON ${slice.kind}.`,
    members: { parameters: [place.key] },
  });
}

const loneSurrogate = /\p{Surrogate}/u;

/** A lone surrogate has no UTF-8 form: it would reach the database as another character. */
function wellFormed(place: ValueTarget, text: string): string {
  if (!loneSurrogate.test(text)) return text;
  throw new Problem('invalid-parameter', {
    detail: `The parameter "${place.key}" holds a lone surrogate, which is no character.`,
    members: { parameters: [place.key] },
  });
}

/** The value of a composite parameter whose fields were given one by one. */
export function fieldsToRecord(
  parameter: EndpointParameter,
  valueOfField: (field: ParameterField) => string | null,
): string {
  return recordLiteral(parameter.fields!.map(valueOfField));
}
