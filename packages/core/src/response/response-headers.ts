import type { Value, RowSink } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import { nosniffHeader, type HeaderList } from '../http/response.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { readFields } from './rows.ts';

/** Values of the parameters of this call, in their order. */
export interface HeaderValues {
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/** Makes the headers of an answer, content type first. */
export type HeaderWriter = (call: HeaderValues) => HeaderList;

/** A header whose value depends on nothing of the request is made once. */
export function createHeaderWriter(endpoint: Endpoint, contentType: string, negotiable: boolean): HeaderWriter {
  const lines = [
    { name: 'content-type', value: endpoint.contentType ?? contentType },
    // A cache must not give one client the form that another has asked for.
    ...(negotiable ? [{ name: 'vary', value: 'accept' }] : []),
    ...endpoint.responseHeaders
      .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
      // The adapters write it on every answer, once.
      .filter(({ name }) => name !== nosniffHeader[0]),
  ].map(({ name, value }) => ({ name, template: templateOf(value, endpoint.parameters) }));
  const render = (call: HeaderValues): HeaderList =>
    lines.flatMap(({ name, template }) => {
      const value = template.map((part) => textOfPart(part, call)).join('');
      if (!isSendable(name, value)) throw unsendable(name, template, call);
      return [name, value];
    });
  if (lines.some(({ template }) => template.some((part) => typeof part !== 'string'))) return render;
  const fixed = render.bind(null, { parameters: [], values: [] });
  let made: HeaderList | null = null;
  return () => (made ??= Object.freeze(fixed()));
}

type Part = string | EndpointParameter;

/** `{name}` of a parameter is a place to fill; every other brace stays as it is. An inner `{` begins anew. */
function templateOf(text: string, parameters: readonly EndpointParameter[]): readonly Part[] {
  const parts: Part[] = [];
  let last = 0;
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    const parameter = parameters.find(({ key, name }) => key === match[1] || name === match[1]);
    if (parameter === undefined) continue;
    parts.push(text.slice(last, match.index), parameter);
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts.filter((part) => part !== '');
}

function textOfPart(part: Part, { parameters, values }: HeaderValues): string {
  if (typeof part === 'string') return part;
  const value = values[parameters.indexOf(part)] ?? null;
  if (value === null) return '';
  const text = typeof value === 'string' ? value : Buffer.from(value).toString('utf8');
  return part.repeatable === true ? (JSON.parse(text) as readonly (string | null)[]).join(', ') : text;
}

/** What a header may be called. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header may hold on the wire: no control characters, nothing beyond Latin-1. */
// oxlint-disable-next-line no-control-regex
const sendable = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Readable text that no header holds all the same. */
// oxlint-disable-next-line no-control-regex
const beyondLatin1 = /[^\u0000-\u00ff]/g;

/** @throws Problem `invalid-response-header` for what cannot be sent */
export function checkHeader(name: string, value: string): string {
  if (isSendable(name, value)) return value;
  throw invalidHeader(name);
}

function isSendable(name: string, value: string): boolean {
  return token.test(name) && sendable.test(value);
}

function invalidHeader(name: string): Problem {
  return new Problem('invalid-response-header', {
    detail: `The response header "${name}" has characters that no header can hold.`,
  });
}

/**
 * Text that the client has given is the client's to change. Control characters are none that anybody types: who lets them come this
 * far is told of it, and so is an author whose own text cannot be sent.
 */
function unsendable(name: string, template: readonly Part[], call: HeaderValues): Problem {
  const culprits = template.filter((part) => !sendable.test(textOfPart(part, call)));
  const parameters = culprits.filter((part) => typeof part !== 'string' && isGiven(part)) as EndpointParameter[];
  const readable = culprits.every((part) => sendable.test(textOfPart(part, call).replaceAll(beyondLatin1, '')));
  const [first] = parameters;
  if (first === undefined || parameters.length < culprits.length || !readable) return invalidHeader(name);
  return new Problem('invalid-parameter', {
    detail: `The value of "${first.key}" goes into the response header "${name}", which holds characters of Latin-1 only.`,
    members: { parameters: [...new Set(parameters.map((parameter) => parameter.key))] },
  });
}

function isGiven({ injectedValue, hashOf }: EndpointParameter): boolean {
  return injectedValue === undefined && hashOf === undefined;
}

/** The row of a command's head, whose values are response headers. */
export class HeaderRow implements RowSink {
  readonly #names: readonly string[];
  #values: readonly (string | null)[] = [];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    this.#values = readFields(chunk, offset, fields).map((field) =>
      field === null ? null : Buffer.from(field).toString(),
    );
    return true;
  }

  /** @throws Problem `invalid-response-header` for what cannot be sent */
  get headers(): HeaderList {
    return this.#names.flatMap((name, index) => {
      const value = this.#values[index] ?? null;
      return value === null ? [] : [name, checkHeader(name, value)];
    });
  }
}
