import type { RowSink } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import { nosniffHeader, type HeaderList } from '../http/response.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { attachmentHeader } from './content-disposition.ts';
import { readFields } from './rows.ts';
import { type ParameterValues, parseTemplate, renderPart, renderTemplate, type TemplatePart } from './template.ts';

/** Makes the headers of a response, content type first. */
export type HeaderWriter = (call: ParameterValues) => HeaderList;

/** What the headers of a response have from its format. */
interface HeaderFormat {
  readonly contentType: string;
  readonly headers?: HeaderList;
  readonly fileExtension?: string;
}

/** The header writers of endpoints whose comments set no header, by content type of the gateway. */
const plainWriters = new Map<string, HeaderWriter>();

/** Returns the header writer of an endpoint. Headers without placeholders are made once. */
export function createHeaderWriter(endpoint: Endpoint, format: HeaderFormat, negotiable: boolean): HeaderWriter {
  if (endpoint.contentType !== null || endpoint.responseHeaders.length > 0 || format.fileExtension !== undefined) {
    return createOwnWriter(endpoint, format, negotiable);
  }
  const key = `${format.contentType} ${negotiable} ${format.headers?.join() ?? ''}`;
  const writer = plainWriters.get(key) ?? createOwnWriter(endpoint, format, negotiable);
  plainWriters.set(key, writer);
  return writer;
}

function createOwnWriter(endpoint: Endpoint, format: HeaderFormat, negotiable: boolean): HeaderWriter {
  const own = new Set(endpoint.responseHeaders.map(({ name }) => name.toLowerCase()));
  const attachment = createAttachmentHeader(
    endpoint,
    own.has('content-disposition') ? undefined : format.fileExtension,
  );
  const lines = [
    { name: 'content-type', value: endpoint.contentType ?? format.contentType },
    // Shared caches must keep the formats apart (RFC 9110, section 12.5.5).
    ...(negotiable ? [{ name: 'vary', value: 'accept' }] : []),
    ...toLines(format.headers ?? []).filter(({ name }) => !own.has(name)),
    ...endpoint.responseHeaders
      .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
      // The adapters add it to every response.
      .filter(({ name }) => name !== nosniffHeader[0]),
  ].map(({ name, value }) => ({ name, template: parseTemplate(value, endpoint.parameters) }));
  const render = (call: ParameterValues): HeaderList => [
    ...lines.flatMap(({ name, template }) => {
      const value = renderTemplate(template, call);
      if (!isSendable(name, value)) throw invalidHeaderValue(name, template, call);
      return [name, value];
    }),
    ...(attachment?.render(call) ?? []),
  ];
  if (attachment?.isFixed === false || lines.some(({ template }) => template.some((part) => typeof part !== 'string')))
    return render;
  const fixed = render.bind(null, { parameters: [], values: [] });
  let made: HeaderList | null = null;
  return () => (made ??= Object.freeze(fixed()));
}

interface AttachmentHeader {
  readonly isFixed: boolean;
  readonly render: (call: ParameterValues) => HeaderList;
}

/** Returns the header with the name of the file that browsers save; null without an extension. */
function createAttachmentHeader(
  { excelFileName, name, parameters }: Endpoint,
  extension: string | undefined,
): AttachmentHeader | null {
  if (extension === undefined) return null;
  const template = parseTemplate(excelFileName ?? name, excelFileName === undefined ? [] : parameters);
  return {
    isFixed: template.every((part) => typeof part === 'string'),
    render: (call) => ['content-disposition', attachmentHeader(renderTemplate(template, call), extension, name)],
  };
}

function toLines(list: HeaderList): readonly { readonly name: string; readonly value: string }[] {
  return Array.from({ length: list.length / 2 }, (_, index) => ({
    name: list[2 * index]!,
    value: list[2 * index + 1]!,
  }));
}

/** A header name (RFC 9110, section 5.1). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A header value: Latin-1 without control characters (RFC 9110, section 5.5). */
const sendable = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// oxlint-disable-next-line no-control-regex
const beyondLatin1 = /[^\u0000-\u00ff]/g;

/** @throws Problem `invalid-response-header` for a name or value that HTTP does not allow */
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
 * Blames the client (400) for text beyond Latin-1 in its parameters. Control characters and text of the comment are errors of the
 * endpoint (500).
 */
function invalidHeaderValue(name: string, template: readonly TemplatePart[], call: ParameterValues): Problem {
  const invalidParts = template.filter((part) => !sendable.test(renderPart(part, call)));
  const parameters = invalidParts.filter((part) => typeof part !== 'string' && isGiven(part)) as EndpointParameter[];
  const isText = invalidParts.every((part) => sendable.test(renderPart(part, call).replaceAll(beyondLatin1, '')));
  const [first] = parameters;
  if (first === undefined || parameters.length < invalidParts.length || !isText) return invalidHeader(name);
  return new Problem('invalid-parameter', {
    detail: `The value of "${first.key}" goes into the response header "${name}", which holds characters of Latin-1 only.`,
    members: { parameters: [...new Set(parameters.map((parameter) => parameter.key))] },
  });
}

function isGiven({ injectedValue, hashOf }: EndpointParameter): boolean {
  return injectedValue === undefined && hashOf === undefined;
}

/** Keeps the row of a header query, whose values are response headers or those of a `RowResponse`. */
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

  get values(): readonly (string | null)[] {
    return this.#values;
  }

  /** @throws Problem `invalid-response-header` for a value that HTTP does not allow */
  get headers(): HeaderList {
    return this.#names.flatMap((name, index) => {
      const value = this.#values[index] ?? null;
      return value === null ? [] : [name, checkHeader(name, value)];
    });
  }
}
