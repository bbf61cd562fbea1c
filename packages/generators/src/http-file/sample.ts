import type { EndpointParameter, NamedType } from '@pgway/core';
import { arrayLiteral, recordLiteral } from '@pgway/core/internal';

/** A JSON value. */
export type Sample = string | number | boolean | null | readonly Sample[] | { readonly [key: string]: Sample };

/** Sample values by PostgreSQL type; those of numbers, booleans and timestamps depend on the JSON form. */
const samplesByType: Readonly<Record<string, string>> = {
  date: '2025-01-31',
  time: '12:30:00',
  timetz: '12:30:00+00',
  interval: '1 day',
  uuid: '6f1c2a52-0d7c-4b2e-9d0a-3f6f3c9a1b7e',
  inet: '192.0.2.1',
  cidr: '192.0.2.0/24',
  macaddr: '08:00:2b:01:02:03',
  macaddr8: '08:00:2b:01:02:03:04:05',
  bytea: String.raw`\x0102`,
  bit: '1',
  varbit: '101',
  money: '1.50',
  jsonpath: '$.a',
  xml: '<a/>',
  point: '(1,2)',
  line: '{1,2,3}',
  lseg: '[(1,2),(3,4)]',
  box: '(3,4),(1,2)',
  path: '((1,2),(3,4))',
  polygon: '((1,2),(3,4),(5,6))',
  circle: '<(1,2),3>',
  tsvector: 'a b',
  tsquery: 'a & b',
  int4range: '[1,10)',
  int8range: '[1,10)',
  numrange: '[1,10)',
  daterange: '[2025-01-01,2025-02-01)',
  tsrange: '[2025-01-01,2025-02-01)',
  tstzrange: '[2025-01-01,2025-02-01)',
  pg_lsn: '0/0',
  oid: '1',
};

const fractional: ReadonlySet<string | null> = new Set(['numeric', 'float4', 'float8']);

/** Returns a valid value of a type. */
export function sampleValue(type: NamedType): Sample {
  switch (type.json) {
    case 'number':
    case 'numberText':
      return fractional.has(type.builtin) ? 1.5 : 1;
    case 'boolean':
      return true;
    case 'timestamp':
      return '2025-01-31T12:30:00';
    case 'timestamptz':
      return '2025-01-31T12:30:00Z';
    case 'json':
      return {};
    case 'converted':
      return convertedSample(type);
    case 'string':
      return type.labels?.[0] ?? textSample(type);
  }
}

function textSample({ builtin, kind }: NamedType): string {
  // `empty` is a value of every range type.
  return (builtin === null ? undefined : samplesByType[builtin]) ?? (kind === 'range' ? 'empty' : 'ABC');
}

function convertedSample({ element, fields }: NamedType): Sample {
  if (element !== undefined) return element.labels?.length === 0 ? [] : [sampleValue(element)];
  if (fields === undefined) return 'ABC';
  return Object.fromEntries(fields.map(({ key, type }) => [key, sampleValue(type)]));
}

/** Returns the keys and sample values of a parameter in a query string or path. */
export function queryPairs({
  key,
  type,
  fields,
}: EndpointParameter): readonly (readonly [key: string, value: string])[] {
  if (fields !== null) return fields.map((field) => [field.key, sampleText(sampleValue(field.type))]);
  return [[key, sampleText(sampleValue(type.element ?? type))]];
}

export function sampleText(sample: Sample): string {
  return typeof sample === 'object' ? JSON.stringify(sample) : String(sample);
}

/** Returns a sample in PostgreSQL's input syntax, for a body that is one parameter. */
export function postgresSample(type: NamedType): string {
  if (type.json === 'converted') {
    if (type.element !== undefined) return arrayLiteral([postgresSample(type.element)]);
    if (type.fields !== undefined) return recordLiteral(type.fields.map((field) => postgresSample(field.type)));
  }
  return sampleText(sampleValue(type));
}
