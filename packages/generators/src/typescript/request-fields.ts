import type { Endpoint, EndpointParameter, NamedType, ValidationRule } from '@pgway/core';
import { refusesNull } from '../client-endpoint.ts';
import type { TypescriptClientOptions } from './options.ts';
import { arrayTypeText, type TypeContext, typeText } from './type-text.ts';

/** A member of a request or response. */
export interface Field {
  readonly key: string;
  /** With `| null` if nullable. */
  readonly type: string;
  readonly optional: boolean;
  /** The PostgreSQL type, for comments. */
  readonly display: string;
}

/** Returns the members of the request of an endpoint. */
export function requestFields(
  endpoint: Endpoint,
  { defaultJsonType: jsonType, parseBigints }: TypescriptClientOptions,
): readonly Field[] {
  const context: TypeContext = { position: 'request', jsonType, parseBigints };
  return endpoint.parameters.flatMap((parameter) => parameterFields(endpoint, parameter, context));
}

function parameterFields(endpoint: Endpoint, parameter: EndpointParameter, context: TypeContext): readonly Field[] {
  const { key, type, fields, inPath, repeatable, position, optional, rules = [] } = parameter;
  const field = (text: string, isOptional = optional): Field => ({
    key,
    type: text,
    optional: isOptional,
    display: [type.display, ...rules.map(describeRule)].join(', '),
  });
  if (inPath) return [field(typeText(type.element ?? type, context), isOptionalInPath(endpoint, parameter))];
  if (position === endpoint.bodyParameter) return [field(type.json === 'json' ? context.jsonType : 'string')];
  if (endpoint.parameterSource === 'body') return [field(nullableText(typeText(type, context), endpoint, parameter))];
  if (fields !== null) {
    return fields.map(({ key: fieldKey, type: inner }) => ({
      key: fieldKey,
      type: queryText(inner, endpoint, context),
      optional,
      display: inner.display,
    }));
  }
  const text =
    refusesNull(parameter) && type.element === undefined
      ? withoutNull(queryText(type, endpoint, context))
      : queryText(type, endpoint, context);
  return [field(repeatable === true ? repeatableText(text) : text)];
}

/** Returns the type of a condition: values or operators such as `lt.20`, one or several. */
function repeatableText(text: string): string {
  const single = text.split(' | ').includes('string') ? text : `${text} | string`;
  return `${single} | ${arrayTypeText(single)}`;
}

/** A query string can contain NULL unless the type is text: `queryStringNullHandling` then decides. */
function queryText(type: NamedType, { queryStringNullHandling }: Endpoint, context: TypeContext): string {
  const hasNull = queryStringNullHandling !== 'ignore' || !(type.element ?? type).textual;
  if (type.element !== undefined) return arrayTypeText(`${typeText(type.element, context)}${hasNull ? ' | null' : ''}`);
  // A composite in one key is text in PostgreSQL's input syntax.
  const text = type.kind === 'composite' ? 'string' : typeText(type, context);
  return hasNull ? `${text} | null` : text;
}

/** The words of the rule in comments. */
function describeRule({ kind, length, pattern }: ValidationRule): string {
  return `${ruleWords[kind]} ${length ?? pattern ?? ''}`.trimEnd();
}

const ruleWords: Readonly<Record<ValidationRule['kind'], string>> = {
  required: 'required',
  notNull: 'not null',
  notEmpty: 'not empty',
  email: 'an e-mail address',
  minLength: 'min. length',
  maxLength: 'max. length',
  pattern: 'pattern',
};

const withoutNull = (text: string): string => text.replace(/ \| null$/, '');

function nullableText(text: string, endpoint: Endpoint, parameter: EndpointParameter): string {
  const column = findColumn(endpoint, parameter);
  return column?.notNull === true || refusesNull(parameter) ? text : `${text} | null`;
}

function findColumn({ table }: Endpoint, { name }: EndpointParameter): Column | undefined {
  return table?.columns.find((column) => column.name === name);
}

type Column = NonNullable<Endpoint['table']>['columns'][number];

function isOptionalInPath({ path }: Endpoint, { name, key }: EndpointParameter): boolean {
  return path.includes(`{${name}?}`) || path.includes(`{${key}?}`);
}
