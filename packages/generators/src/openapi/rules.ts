import type { EndpointParameter, ValidationRule } from '@pgway/core';
import { refusesNull } from '../client-endpoint.ts';
import { type JsonSchema, nullableSchema } from './schema.ts';

/** Adds the rules of a parameter to its schema: of several lengths the strictest, of several patterns all. */
export function withRules(schema: JsonSchema, { rules = [] }: EndpointParameter): JsonSchema {
  const keywords = schema['type'] === 'string' ? textKeywords(rules) : {};
  return Object.keys(keywords).length === 0 ? schema : { ...schema, ...keywords };
}

/** Adds the rules, and null unless a rule refuses it. */
export function nullableWithRules(schema: JsonSchema, parameter: EndpointParameter): JsonSchema {
  const narrowed = withRules(schema, parameter);
  return refusesNull(parameter) ? narrowed : nullableSchema(narrowed);
}

function textKeywords(rules: readonly ValidationRule[]): JsonSchema {
  const minimum = Math.max(
    ...rules.map(({ kind, length }) => (isNotEmpty(kind) ? 1 : kind === 'minLength' ? length! : 0)),
  );
  const maximum = Math.min(...rules.map(({ kind, length }) => (kind === 'maxLength' ? length! : Infinity)));
  const [first, ...others] = rules.flatMap(({ pattern }) => pattern ?? []);
  return {
    ...(rules.some(({ kind }) => kind === 'email') ? { format: 'email' } : {}),
    ...(minimum > 0 ? { minLength: minimum } : {}),
    ...(maximum < Infinity ? { maxLength: maximum } : {}),
    ...(first === undefined ? {} : { pattern: first }),
    ...(others.length === 0 ? {} : { allOf: others.map((pattern) => ({ pattern })) }),
  };
}

function isNotEmpty(kind: ValidationRule['kind']): boolean {
  return kind === 'required' || kind === 'notEmpty';
}
