import type { Endpoint } from '@pgway/core';
import { fieldErrorCodes } from '@pgway/core/internal';
import { GeneratorError } from '../generated-file.ts';
import { quote } from '../source-text.ts';
import type { OpenApiOptions } from './options.ts';
import { sharedSchemas } from './described-operation.ts';
import { rateLimitComponents } from './rate-limit.ts';
import { tokensSchema } from './responses.ts';
import type { JsonSchema } from './schema.ts';

/** The security scheme of endpoints with `basic_authentication`. */
export const basicSecurityScheme = 'basic';

export const problemResponseObject: JsonSchema = { $ref: '#/components/responses/Problem' };

const problemProperties: Readonly<Record<string, JsonSchema>> = {
  type: { type: 'string' },
  title: { type: 'string' },
  status: { type: 'integer' },
  detail: { type: 'string' },
  code: { type: 'string', description: 'SQLSTATE' },
  hint: { type: 'string' },
  constraint: { type: 'string' },
  column: { type: 'string' },
  table: { type: 'string' },
};

const problemSchema: JsonSchema = {
  type: 'object',
  description: 'Why a request failed (RFC 9457); errors of the database have the fields of PostgreSQL too.',
  properties: problemProperties,
  required: ['type', 'title', 'status'],
  examples: [
    {
      type: 'urn:pgway:problem:invalid-parameter',
      title: 'A parameter has an invalid value',
      status: 400,
      detail: 'invalid input syntax for type integer: "x"',
      code: '22P02',
    },
  ],
};

const fieldErrorsSchema: JsonSchema = {
  type: 'array',
  description: 'The refused parameters of the request',
  items: {
    type: 'object',
    properties: {
      pointer: { type: 'string', description: 'JSON Pointer of the parameter; empty: the request as a whole' },
      code: { enum: fieldErrorCodes },
      detail: { type: 'string' },
    },
    required: ['pointer', 'code', 'detail'],
  },
};

/** The schema of problems; with field errors if an endpoint lists them. */
function createProblemSchema(endpoints: readonly Endpoint[]): JsonSchema {
  if (endpoints.every(({ fieldErrors }) => fieldErrors === undefined)) return problemSchema;
  return { ...problemSchema, properties: { ...problemProperties, errors: fieldErrorsSchema } };
}

/**
 * Returns the Components Object, with the components that operations use.
 * @throws GeneratorError for an endpoint that requires an authenticated caller when `securitySchemes` is empty
 */
export function componentsObject(endpoints: readonly Endpoint[], options: OpenApiOptions): JsonSchema {
  const securitySchemes = securitySchemesObject(endpoints, options);
  const rateLimit = rateLimitComponents(endpoints);
  return {
    schemas: {
      Problem: createProblemSchema(endpoints),
      ...(endpoints.some(isLogin) ? { Tokens: tokensSchema } : {}),
      ...sharedSchemas(endpoints),
    },
    responses: {
      Problem: {
        description: 'The request failed',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
      ...rateLimit?.responses,
    },
    ...(rateLimit === null ? {} : { headers: rateLimit.headers }),
    ...(Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }),
  };
}

const isLogin = ({ loginOrLogout }: Endpoint): boolean => loginOrLogout?.kind === 'login';

function securitySchemesObject(endpoints: readonly Endpoint[], { securitySchemes }: OpenApiOptions): JsonSchema {
  const protectedEndpoint = endpoints.find(
    ({ authorization, basicAuthentication: basic }) => authorization.required && basic === null,
  );
  if (protectedEndpoint !== undefined && Object.keys(securitySchemes).length === 0) {
    // Without a scheme the document would describe the operation as public.
    throw new GeneratorError(
      `openApi: ${quote(protectedEndpoint.id)} requires an authenticated caller, and securitySchemes is empty; add a scheme`,
    );
  }
  // The options may describe the scheme themselves.
  const basic = { [basicSecurityScheme]: securitySchemes[basicSecurityScheme] ?? { type: 'http', scheme: 'basic' } };
  return {
    ...(endpoints.some((endpoint) => endpoint.basicAuthentication !== null) ? basic : {}),
    ...(protectedEndpoint === undefined ? {} : securitySchemes),
  };
}
