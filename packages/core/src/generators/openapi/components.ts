import type { Endpoint } from '../../endpoints/endpoint.ts';
import { GeneratorError } from '../generated-file.ts';
import { quote } from '../source-text.ts';
import type { OpenApiOptions } from './options.ts';
import { tokensSchema } from './responses.ts';
import type { Schema } from './schema.ts';

/** The security scheme of endpoints with `basic_authentication`. */
export const basicScheme = 'basic';

export const problemResponse: Schema = { $ref: '#/components/responses/Problem' };

const problemSchema: Schema = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457); of errors of the database also what PostgreSQL tells.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'SQLSTATE' },
    hint: { type: 'string' },
    constraint: { type: 'string' },
    column: { type: 'string' },
    table: { type: 'string' },
  },
  required: ['type', 'title', 'status'],
};

/**
 * What operations refer to: only what one of them needs.
 * @throws GeneratorError when an endpoint needs a signed-in caller and there is no scheme to sign in with
 */
export function componentsObject(endpoints: readonly Endpoint[], options: OpenApiOptions): Schema {
  const securitySchemes = securitySchemesObject(endpoints, options);
  return {
    schemas: { Problem: problemSchema, ...(endpoints.some(isLogin) ? { Tokens: tokensSchema } : {}) },
    responses: {
      Problem: {
        description: 'The request was refused',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    ...(Object.keys(securitySchemes).length === 0 ? {} : { securitySchemes }),
  };
}

const isLogin = ({ signIn }: Endpoint): boolean => signIn?.kind === 'login';

function securitySchemesObject(endpoints: readonly Endpoint[], { securitySchemes }: OpenApiOptions): Schema {
  const needsCaller = endpoints.find(
    ({ authorization, basicAuthentication: basic }) => authorization.required && basic === null,
  );
  if (needsCaller !== undefined && Object.keys(securitySchemes).length === 0) {
    // Without a scheme the operation would read as one for everybody.
    throw new GeneratorError(
      `openApi: ${quote(needsCaller.id)} needs a signed-in caller, and securitySchemes is empty; name at least one scheme`,
    );
  }
  // A scheme of that name in the options is the author's own description of it.
  const basic = { [basicScheme]: securitySchemes[basicScheme] ?? { type: 'http', scheme: 'basic' } };
  return {
    ...(endpoints.some((endpoint) => endpoint.basicAuthentication !== null) ? basic : {}),
    ...(needsCaller === undefined ? {} : securitySchemes),
  };
}
