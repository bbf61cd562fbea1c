import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';
import { arrayTypeText, type TypeContext, typeText } from './type-text.ts';

/** A member of a request or response. */
export interface Field {
  readonly key: string;
  /** With `| null` where it can be NULL. */
  readonly type: string;
  readonly optional: boolean;
  /** The type in PostgreSQL, for people. */
  readonly display: string;
}

/** What a caller gives: the parameters, where they are columns of a table as the operation needs them. */
export function requestFields(endpoint: Endpoint, jsonType: string): readonly Field[] {
  const manner: TypeContext = { side: 'request', jsonType };
  return endpoint.parameters.flatMap((parameter) => parameterFields(endpoint, parameter, manner));
}

function parameterFields(endpoint: Endpoint, parameter: EndpointParameter, manner: TypeContext): readonly Field[] {
  const { key, type, fields, inPath, repeatable, position, optional } = parameter;
  const field = (text: string, mayBeLeftOut = optional): Field => ({
    key,
    type: text,
    optional: mayBeLeftOut,
    display: type.display,
  });
  if (inPath) return [field(typeText(type.element ?? type, manner), isOptionalInPath(endpoint, parameter))];
  if (position === endpoint.bodyParameter) return [field(type.json === 'json' ? manner.jsonType : 'string')];
  if (endpoint.parameterSource === 'body') return [field(nullableText(typeText(type, manner), endpoint, parameter))];
  if (fields !== null) {
    return fields.map(({ key: own, type: inner }) => ({
      key: own,
      type: queryText(inner, endpoint, manner),
      optional,
      display: inner.display,
    }));
  }
  const text = queryText(type, endpoint, manner);
  return [field(repeatable === true ? repeatableText(text) : text)];
}

/** Any of them may be repeated, and stand for more than a value: `lt.20`. */
function repeatableText(text: string): string {
  const one = text.split(' | ').includes('string') ? text : `${text} | string`;
  return `${one} | ${arrayTypeText(one)}`;
}

/** Whether a query string can say NULL: an empty value is one, but for text it is a text, unless the endpoint says otherwise. */
function queryText(type: NamedType, { queryStringNullHandling }: Endpoint, manner: TypeContext): string {
  const hasNull = queryStringNullHandling !== 'ignore' || !(type.element ?? type).textual;
  if (type.element !== undefined) return arrayTypeText(`${typeText(type.element, manner)}${hasNull ? ' | null' : ''}`);
  // A composite that is not given field by field is PostgreSQL's text of it.
  const text = type.kind === 'composite' ? 'string' : typeText(type, manner);
  return hasNull ? `${text} | null` : text;
}

function nullableText(text: string, endpoint: Endpoint, parameter: EndpointParameter): string {
  const column = findColumn(endpoint, parameter);
  return column?.notNull === true ? text : `${text} | null`;
}

function findColumn({ table }: Endpoint, { name }: EndpointParameter): Column | undefined {
  return table?.columns.find((column) => column.name === name);
}

type Column = NonNullable<Endpoint['table']>['columns'][number];

function isOptionalInPath({ path }: Endpoint, { name, key }: EndpointParameter): boolean {
  return path.includes(`{${name}?}`) || path.includes(`{${key}?}`);
}
