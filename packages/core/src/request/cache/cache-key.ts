import { createHash } from 'node:crypto';
import { tableKey } from '../../catalog/table-name.ts';
import type { Statement, Value } from '../../postgres/port.ts';
import type { CacheKey } from '../../ports/ports.ts';
import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import { listTemplateParameters, parseRawTemplate } from '../../response/raw-template.ts';

/** The caching rules of an endpoint, made at start. */
export interface CompiledCachePolicy {
  /** `schema.name`. */
  readonly routine: string;
  /** A hash of the whole endpoint: after a change of its plan, responses from before are not found. */
  readonly fingerprint: string;
  /** By position less one: whether responses vary by the parameter. */
  readonly variesBy: readonly boolean[];
  /** Milliseconds; null: until an invalidation. */
  readonly expires: number | null;
  /** The tables whose changes invalidate the responses, by what `tableKey` returns. */
  readonly tables: readonly string[];
  /** Whether responses are the same for all callers. */
  readonly isPublic: boolean;
  /** Whether responses depend on the body of the request. */
  readonly readsBody: boolean;
  /** Lower-case names of the headers that the comment sets: the cache does not set them too. */
  readonly authorHeaders: ReadonlySet<string>;
}

/** @param isPersonal whether a call depends on more than its parameters */
export function compileCachePolicy(endpoint: Endpoint, isPersonal: boolean): CompiledCachePolicy {
  const { schema, name, parameters, cache, requestHeaders, responseHeaders, parameterSource, bodyParameter } = endpoint;
  const template = parseRawTemplate(endpoint);
  const written = template === null ? [] : listTemplateParameters(template);
  return {
    routine: `${schema}.${name}`,
    fingerprint: createHash('sha256').update(JSON.stringify(endpoint)).digest('base64url').slice(0, 22),
    variesBy: parameters.map((parameter) => isInKey(endpoint, parameter) || written.includes(parameter)),
    expires: cache!.expiresInMs,
    tables: cache!.untilChangesOf?.map(tableKey) ?? [],
    isPublic:
      !isPersonal &&
      requestHeaders.mode === 'ignore' &&
      parameters.every(({ injectedValue }) => injectedValue === undefined),
    readsBody: parameterSource === 'body' || bodyParameter !== null,
    authorHeaders: new Set(responseHeaders.map((header) => header.name.toLowerCase())),
  };
}

/** The comment can leave parameters out of the key, but not those that the gateway fills, or that a query of another one reads. */
function isInKey(
  { cache, requestHeaders, parameters }: Endpoint,
  { position, injectedValue }: EndpointParameter,
): boolean {
  if (cache!.parameters === null || cache!.parameters.includes(position) || injectedValue !== undefined) return true;
  if (parameters.some(({ query }) => query?.parts.includes(position) === true)) return true;
  return requestHeaders.mode === 'parameter' && requestHeaders.position === position;
}

/** Characters; longer keys are hashed. */
const maxKeyLength = 1_024;

interface KeyStatement {
  readonly statement: Statement;
  readonly arguments: readonly Value[];
  readonly valueSources: readonly ({ readonly name: string } | null)[];
}

/** The properties of an executable call that its key is made of. */
export interface CacheKeyInput extends KeyStatement {
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly headerQuery: KeyStatement | null;
}

export interface CacheKeyContext {
  /** The database. */
  readonly scope: string;
  readonly contentType: string;
  /** Whether a query builder made the statement, which may depend on more than the parameters. */
  readonly isCustomQuery: boolean;
}

/**
 * Returns the cache key of a call. It holds everything that the response depends on: the endpoint's plan, the content type, the
 * parameters that responses vary by, and all settings, which are all that the call knows of its caller. Each part starts with its
 * kind and length, so that two different calls never have the same text.
 */
export function createCacheKey(
  policy: CompiledCachePolicy,
  call: CacheKeyInput,
  { scope, contentType, isCustomQuery }: CacheKeyContext,
): CacheKey {
  let text = policy.fingerprint + part('d', scope) + part('f', contentType);
  const { parameters, values, settings } = call;
  if (isCustomQuery) text += statementKey(policy, call);
  for (let index = 0; index < parameters.length; index++) {
    const { position } = parameters[index]!;
    if (policy.variesBy[position - 1] === true) text += `p${position}${valueKey(values[index]!)}`;
  }
  for (const [name, value] of settings) text += part('s', name) + part('=', value);
  return { routine: policy.routine, text: text.length > maxKeyLength ? hash(text) : text };
}

/** The text of a statement holds no client input. Values without a parameter come from the query builder and are in the key. */
function statementKey(
  policy: CompiledCachePolicy,
  { statement, arguments: values, valueSources, headerQuery, parameters }: CacheKeyInput,
): string {
  let text = part('q', statement.sql);
  for (const [index, source] of valueSources.entries()) {
    const parameter = source === null ? undefined : parameters.find(({ name }) => name === source.name);
    if (parameter === undefined || policy.variesBy[parameter.position - 1] === true) {
      text += `a${index}${valueKey(values[index]!)}`;
    }
  }
  if (headerQuery === null) return text;
  const headerValues = headerQuery.arguments.map((value) => `v${valueKey(value)}`).join('');
  return text + part('h', headerQuery.statement.sql) + headerValues;
}

function part(kind: string, text: string): string {
  return `${kind}${text.length}:${text}`;
}

function valueKey(value: Value): string {
  if (value === null) return 'n';
  return typeof value === 'string' ? part('t', value) : part('b', Buffer.from(value).toString('latin1'));
}

function hash(text: string): string {
  return `#${createHash('sha256').update(text).digest('base64url')}`;
}
