import { createHash } from 'node:crypto';
import type { Statement, Value } from '../../postgres/port.ts';
import type { CacheKey } from '../../ports/ports.ts';
import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';

/** What is known at start of an endpoint whose answers are kept. */
export interface CachePolicy {
  /** `schema.name`. */
  readonly routine: string;
  /** Changes with everything that is planned of the endpoint, so that no answer outlives what it was made by. */
  readonly fingerprint: string;
  /** By position less one: whether the parameter tells answers apart. */
  readonly variesBy: readonly boolean[];
  readonly expires: number | null;
  /** Whether anybody may be given the answer of anybody else, as far as the endpoint alone can tell. */
  readonly isPublic: boolean;
  /** Headers that the author has set: they are what is said, and ours stay out. */
  readonly authorHeaders: ReadonlySet<string>;
}

/** @param personal whether a call depends on more than its parameters */
export function createCachePolicy(endpoint: Endpoint, personal: boolean): CachePolicy {
  const { schema, name, parameters, cache, requestHeaders, responseHeaders: headers } = endpoint;
  return {
    routine: `${schema}.${name}`,
    fingerprint: createHash('sha256').update(JSON.stringify(endpoint)).digest('base64url').slice(0, 22),
    variesBy: parameters.map((parameter) => tells(endpoint, parameter)),
    expires: cache!.expiresInMs,
    isPublic:
      !personal &&
      requestHeaders.mode === 'ignore' &&
      parameters.every(({ injectedValue }) => injectedValue === undefined),
    authorHeaders: new Set(headers.map((header) => header.name.toLowerCase())),
  };
}

/** What the gateway fills in of the caller and of the request is never the author's to leave out. */
function tells({ cache, requestHeaders }: Endpoint, { position, injectedValue }: EndpointParameter): boolean {
  if (cache!.parameters === null || cache!.parameters.includes(position) || injectedValue !== undefined) return true;
  return requestHeaders.mode === 'parameter' && requestHeaders.position === position;
}

/** Characters; a longer text is known by its hash. */
const longestText = 1_024;

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
  /** The content type of the answer. */
  readonly form: string;
  /** Whether the endpoint's source has made the statement, by more than the parameters. */
  readonly made: boolean;
}

/**
 * The key of a call. Everything that its answer may depend on stands in it, each part with its kind and length before it, so that no
 * two different calls have one text: the endpoint as it is planned, the form of the answer, the parameters that tell answers
 * apart, and every setting of the transaction, which is all that the call knows of its caller.
 */
export function createCacheKey(
  caching: CachePolicy,
  call: CacheKeyInput,
  { scope, form, made }: CacheKeyContext,
): CacheKey {
  let text = caching.fingerprint + part('d', scope) + part('f', form);
  const { parameters, values, settings } = call;
  if (made) text += ofStatement(caching, call);
  for (let index = 0; index < parameters.length; index++) {
    const { position } = parameters[index]!;
    if (caching.variesBy[position - 1] === true) text += `p${position}${ofValue(values[index]!)}`;
  }
  for (const [name, value] of settings) text += part('s', name) + part('=', value);
  return { routine: caching.routine, text: text.length > longestText ? hashed(text) : text };
}

/** The text of a statement holds nothing that a client has sent; values that nobody has given are the source's own. */
function ofStatement(
  caching: CachePolicy,
  { statement, arguments: values, valueSources, headerQuery, parameters }: CacheKeyInput,
): string {
  let text = part('q', statement.sql);
  for (const [index, owner] of valueSources.entries()) {
    const parameter = owner === null ? undefined : parameters.find(({ name }) => name === owner.name);
    if (parameter === undefined || caching.variesBy[parameter.position - 1] === true) {
      text += `a${index}${ofValue(values[index]!)}`;
    }
  }
  if (headerQuery === null) return text;
  return (
    text + part('h', headerQuery.statement.sql) + headerQuery.arguments.map((value) => `v${ofValue(value)}`).join('')
  );
}

function part(kind: string, text: string): string {
  return `${kind}${text.length}:${text}`;
}

function ofValue(value: Value): string {
  if (value === null) return 'n';
  return typeof value === 'string' ? part('t', value) : part('b', Buffer.from(value).toString('latin1'));
}

function hashed(text: string): string {
  return `#${createHash('sha256').update(text).digest('base64url')}`;
}
