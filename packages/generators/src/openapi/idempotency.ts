import type { Endpoint } from '@pgway/core';
import { problemResponseObject } from './components.ts';
import type { JsonSchema } from './schema.ts';

const hasKeys = ({ idempotency }: Endpoint): boolean => idempotency !== undefined;

/** Returns the Parameter Object of the idempotency key; empty without keys. It is required when each endpoint requires it. */
export function idempotencyHeaders(endpoints: readonly Endpoint[]): readonly JsonSchema[] {
  if (!endpoints.some(hasKeys)) return [];
  const isRequired = endpoints.every(({ idempotency }) => idempotency === 'required');
  return [isRequired ? { ...keyHeader, required: true } : keyHeader];
}

/** The Parameter Object of an idempotency key that may be absent. */
export const keyHeader: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A random value for each operation. A repeated request with the same key runs once.',
  schema: { type: 'string', minLength: 1, maxLength: 257, examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] },
};

/** Returns the responses of a key that is in use, and of one of another request. */
export function idempotencyProblems(endpoints: readonly Endpoint[]): JsonSchema {
  return endpoints.some(hasKeys) ? { 409: problemResponseObject, 422: problemResponseObject } : {};
}
