/** A request as code: for a shell, for `fetch` and for the generated client. */
import { curlCommand } from './curl.ts';
import type { PageOperation, PageParameter } from './page-data.ts';
import { jsonValue, type PageRequest, type ParameterTexts } from './request.ts';

/** A form whose request is shown. */
export interface SampledForm {
  readonly operation: PageOperation;
  readonly request: PageRequest;
  readonly texts: ParameterTexts;
  /** Whether the browser sends a cookie with it. */
  readonly hasCookie: boolean;
}

export interface CodeSample {
  readonly label: string;
  readonly code: string;
}

export function codeSamples(form: SampledForm): readonly CodeSample[] {
  const { request } = form;
  const client = clientCode(form);
  return [
    { label: 'curl', code: curlCommand(request) },
    { label: 'fetch', code: fetchCode(form) },
    ...(client === null ? [] : [{ label: 'Generated client', code: client }]),
  ];
}

/** Tokens are variables: a clipboard is not a place for them. */
function fetchCode({ request, hasCookie }: SampledForm): string {
  const { method, url, headers, body, files } = request;
  const members = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(headers.length === 0 ? [] : [`headers: {\n${headers.map(headerMember).join('')}  }`]),
    ...(body === null ? [] : [`body: ${bodyExpression(body)}`]),
    ...(files.length === 0 ? [] : ['body: form']),
    ...(hasCookie ? [`credentials: "include"`] : []),
  ];
  const options = members.length === 0 ? '' : `, {\n${members.map((member) => `  ${member},\n`).join('')}}`;
  return [
    ...(files.length === 0
      ? []
      : ['const form = new FormData();', 'for (const file of input.files) form.append("file", file);', '']),
    `const response = await fetch(${literal(url)}${options});`,
    'if (!response.ok) throw new Error((await response.json()).title);',
  ].join('\n');
}

function headerMember([name, value]: readonly [string, string]): string {
  const isToken = name.toLowerCase() === 'authorization';
  const text = isToken
    ? `\`${value.startsWith('Basic ') ? 'Basic ${credentials}' : 'Bearer ${token}'}\``
    : literal(value);
  return `    ${literal(name)}: ${text},\n`;
}

/** A number that JavaScript does not keep, or a member that an object literal has another meaning for. */
const notLiteral = /\d{16}|__proto__/;

function bodyExpression(body: string): string {
  if (!isJsonObject(body) || notLiteral.test(body)) return literal(body);
  return `JSON.stringify(${escapeLines(indent(body))})`;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function indent(text: string): string {
  return text.trim().replaceAll('\n', '\n  ');
}

/** Returns null where the client has no function for the endpoint. */
function clientCode({ operation, request, texts }: SampledForm): string | null {
  const { client, body } = operation;
  if (client === null) return null;
  const argument = client.takesRequest ? requestArgument(operation, request, texts) : null;
  const headers = operation.parameters.flatMap((parameter) =>
    parameter.in === 'header'
      ? (texts.get(parameter) ?? []).map((text): [string, string] => [parameter.name, text])
      : [],
  );
  const options =
    headers.length === 0 ? null : `{ headers: { ${headers.map((pair) => pair.map(literal).join(': ')).join(', ')} } }`;
  const values = [
    ...(body?.kind === 'files' ? ['input.files'] : []),
    ...(argument === null ? [] : [argument]),
    ...(options === null ? [] : [options]),
  ];
  const call = `await ${client.name}(${values.join(', ')});`;
  return [
    `import { ${client.name} } from ${literal(client.module)};`,
    '',
    client.hasResult ? `const result = ${call}` : call,
  ].join('\n');
}

/** Returns an object with the parameters: those of path and query string, and the members of the body. */
function requestArgument(operation: PageOperation, { body: text }: PageRequest, texts: ParameterTexts): string {
  const { parameters, body } = operation;
  const places = body?.kind === 'text' ? ['path', 'query', 'body'] : ['path', 'query'];
  const members = parameters
    .filter((parameter) => places.includes(parameter.in))
    .flatMap((parameter) => memberText(parameter, texts.get(parameter) ?? null));
  const content = body?.kind === 'object' && isJsonObject(text ?? '') ? escapeLines(text!.trim()) : '{}';
  if (members.length === 0) return content;
  return objectText(content === '{}' ? members : [...members, `...${indent(content)}`]);
}

function memberText({ name, schema }: PageParameter, values: readonly string[] | null): readonly string[] {
  return values === null ? [] : [`${memberName(name)}: ${escapeLines(jsonValue(schema, values))}`];
}

/** Returns an object in one line if it is short. */
function objectText(members: readonly string[]): string {
  const line = members.join(', ');
  return line.length < 60 && !line.includes('\n')
    ? `{ ${line} }`
    : `{\n${members.map((member) => `  ${member},\n`).join('')}}`;
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : `[${literal(name)}]`;
}

function literal(text: string): string {
  return escapeLines(JSON.stringify(text));
}

/** Separators that end a line in older versions of JavaScript, but not in JSON. */
function escapeLines(text: string): string {
  return text.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`);
}
