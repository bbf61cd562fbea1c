import { Problem } from '../../http/problem.ts';
import type { Endpoint, EndpointParameter, ParameterField } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';
import { itemsOf, jsonOf, type JsonSlice, membersOf, textOf, shownKey } from '../../http/json-reader.ts';
import { arrayLiteral, nestedArrayLiteral, hstoreLiteral, recordLiteral } from '../../postgres/literal.ts';

/** Where a value goes, for the words of a refusal: the key that the client knows, and the type it has to fit. */
export interface Place {
  readonly key: string;
  readonly type: NamedType;
  /** The key may be repeated, and who takes the value reads all of its texts. */
  readonly several?: true;
}

/** What stands for NULL in a query string, by the type of the parameter. */
function queryNull(text: string, textual: boolean, rule: Endpoint['queryNull']): boolean {
  if (text === '') return rule === 'emptyString' || !textual;
  return rule === 'nullLiteral' && text.toLowerCase() === 'null';
}

/** The value of a key in a query string or a path, in PostgreSQL's text form. Repeated keys are the elements of an array. */
export function valueOfTexts(place: Place, texts: readonly string[], rule: Endpoint['queryNull']): string | null {
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
export function listOfTexts(place: Place, texts: readonly string[], rule: Endpoint['queryNull']): string {
  const { textual } = place.type;
  return JSON.stringify(texts.map((text) => (queryNull(text, textual, rule) ? null : wellFormed(place, text))));
}

/**
 * What a JSON string is for a type that holds JSON.
 * - `text`: the text of a JSON value, as parameters of routines take it
 * - `value`: the string itself, as columns of tables take it, which give it so
 */
export type JsonString = 'text' | 'value';

/** The value of a key in a JSON body, in PostgreSQL's text form. Numbers keep their digits, and json its text. */
export function valueOfJson(place: Place, slice: JsonSlice, strings: JsonString = 'text'): string | null {
  const { json, jsonInput: ownJson } = place.type;
  if (slice.kind === 'null') return null;
  if (json === 'json') return wellFormed(place, strings === 'value' ? jsonOf(slice) : textOf(slice));
  const isStructured = slice.kind === 'array' || slice.kind === 'object';
  if (isStructured && ownJson === 'json') return wellFormed(place, jsonOf(slice));
  if (slice.kind === 'object' && ownJson === 'hstore') return wellFormed(place, hstoreOfJson(slice));
  if (slice.kind === 'array') return arrayOfJson(place, slice, strings);
  if (slice.kind === 'object') return recordOfJson(place, slice, strings);
  return wellFormed(place, textOf(slice));
}

/** PostgreSQL's `MAXDIM`. */
const mostDimensions = 6;

/** How deep arrays can be nested in a value of the type; the element of an array may be a domain over another array. */
function deepestArray({ element }: NamedType): number {
  return element === undefined ? 0 : mostDimensions + deepestArray(element);
}

/** Values of hstore are texts. */
function hstoreOfJson(object: JsonSlice): string {
  const pairs = [...membersOf(object)].map(([key, slice]): [string, string | null] => [
    key,
    slice.kind === 'null' ? null : textOf(slice),
  ]);
  return hstoreLiteral(pairs);
}

/** @param outer how many arrays of the value this one stands in */
function arrayOfJson(place: Place, array: JsonSlice, strings: JsonString, outer = 0): string {
  const { element } = place.type;
  if (element === undefined) throw wrongKind(place, array);
  const holdsJson = element.json === 'json' || element.jsonInput === 'json';
  // Each level reads its text again: what PostgreSQL would refuse is refused before that.
  if (!holdsJson && outer + openingBrackets(array) > deepestArray(place.type)) throw tooManyDimensions(place);
  const items = itemsOf(array);
  // Where the element is itself an array, by a domain, each item is one such value and no further dimension.
  const nested =
    !holdsJson && element.element === undefined && items.length > 0 && items.every(({ kind }) => kind === 'array');
  if (nested) {
    const dimensions = items.map((item) => arrayOfJson(place, item, strings, outer + 1));
    return nestedArrayLiteral(dimensions, element.delimiter);
  }
  const elements = items.map((item) => valueOfJson({ key: place.key, type: element }, item, strings));
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
function openingBrackets({ text, start }: JsonSlice): number {
  openings.lastIndex = start;
  return openings.exec(text)![0].replaceAll(/[^[]/g, '').length;
}

function tooManyDimensions({ key, type }: Place): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${key}" takes ${type.display}; its value is nested deeper than the ${mostDimensions} dimensions that an array of PostgreSQL can have.`,
    members: { parameters: [key] },
  });
}

/** Fields that are not given are NULL; keys are the fields' own or converted names. */
function recordOfJson(place: Place, object: JsonSlice, strings: JsonString): string {
  const { fields } = place.type;
  if (fields === undefined) throw wrongKind(place, object);
  const members = new Map(membersOf(object));
  const values = fields.map((field) => {
    const name = members.has(field.key) ? field.key : field.name;
    const member = members.get(name);
    members.delete(name);
    const inside = { key: `${place.key}.${field.key}`, type: field.type };
    return member === undefined ? null : valueOfJson(inside, member, strings);
  });
  const [unknown] = members.keys();
  if (unknown === undefined) return recordLiteral(values);
  throw new Problem('unknown-parameter', {
    detail: `"${shownKey(unknown)}" is no field of "${place.key}", which has ${fields.map(({ key }) => `"${key}"`).join(', ')}.`,
    members: { unknown: [`${place.key}.${shownKey(unknown)}`] },
  });
}

function wrongKind(place: Place, slice: JsonSlice): Problem {
  return new Problem('invalid-parameter', {
    detail: `The parameter "${place.key}" takes ${place.type.display}, not a JSON ${slice.kind}.`,
    members: { parameters: [place.key] },
  });
}

const loneSurrogate = /\p{Surrogate}/u;

/** A lone surrogate has no UTF-8 form: it would reach the database as another character. */
function wellFormed(place: Place, text: string): string {
  if (!loneSurrogate.test(text)) return text;
  throw new Problem('invalid-parameter', {
    detail: `The parameter "${place.key}" holds a lone surrogate, which is no character.`,
    members: { parameters: [place.key] },
  });
}

/** The value of a composite parameter whose fields were given one by one. */
export function recordOfFields(
  parameter: EndpointParameter,
  valueOfField: (field: ParameterField) => string | null,
): string {
  return recordLiteral(parameter.fields!.map(valueOfField));
}
