import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { basename, extname, join } from 'node:path';

/** Splits a command line into words as a shell does, without expansion. */
export function shellWords(command: string): readonly string[] {
  const joined = command.replaceAll('\\\n', ' ');
  return [...joined.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single: string | undefined, double: string | undefined) => {
      return single ?? double ?? '';
    }),
  );
}

interface CurlRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** `-F`: the parts of a form, as `name=value` or `name=@file;type=image/png`. */
  readonly parts: readonly string[];
  /** `-i` or `-I`: headers and body are printed. */
  readonly showHead: boolean;
  /** `-c`: the file for cookies of the response. */
  readonly jar: string | null;
}

/** The stored cookies, by the names of their files. */
const jars = new Map<string, string>();

/** The part of curl that the pages use. */
function curlRequest(words: readonly string[]): CurlRequest {
  let address: string | null = null;
  let method: string | null = null;
  let body: string | null = null;
  const parts: string[] = [];
  let showHead = false;
  let jar: string | null = null;
  const headers: Record<string, string> = { 'user-agent': 'curl/8.5.0', accept: '*/*' };
  const rest = [...words];
  const options: Readonly<Record<string, () => void>> = {
    '-i': () => (showHead = true),
    '-I': () => ([showHead, method] = [true, 'HEAD']),
    '-c': () => (jar = rest.shift()!),
    '-b': () => (headers['cookie'] = jars.get(rest.shift()!) ?? ''),
    '-u': () => (headers['authorization'] = `Basic ${Buffer.from(rest.shift()!).toString('base64')}`),
    '-X': () => (method = rest.shift()!),
    '-H': () => {
      const [, name, value] = /^([^:]+):\s*(.*)$/.exec(rest.shift()!)!;
      headers[name!.toLowerCase()] = value!;
    },
    '-d': () => {
      body = rest.shift()!;
      headers['content-type'] ??= 'application/x-www-form-urlencoded';
    },
    '-F': () => void parts.push(rest.shift()!),
    '--json': () => {
      body = rest.shift()!;
      Object.assign(headers, { 'content-type': 'application/json', accept: 'application/json' });
    },
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const option = options[word];
    if (option !== undefined) option();
    else if (word.startsWith('-')) throw new Error(`the test knows no option ${word} of curl`);
    else address = word;
  }
  if (address === null) throw new Error('curl has no address');
  if (/[{}[\]]/.test(address)) throw new Error('curl takes brackets and braces in an address for a pattern');
  const url = new URL(address.includes('://') ? address : `http://${address}`);
  // The host of the page, without the port of this run: the guard compares an origin with the host.
  headers['host'] ??= url.host;
  const hasBody = body !== null || parts.length > 0;
  return { url, method: method ?? (hasBody ? 'POST' : 'GET'), headers, body, parts, showHead, jar };
}

/** The media types that curl knows by file name. */
const typesByExtension: Readonly<Record<string, string>> = {
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
};

/** Returns the multipart body of `-F`, and its type. */
export async function encodeForm(
  parts: readonly string[],
  folder: string,
): Promise<{ readonly type: string; readonly body: Buffer }> {
  const form = new FormData();
  for (const part of parts) {
    const [, name, isFile, value, given] = /^([^=]+)=(@?)([^;]*)(?:;type=(.*))?$/.exec(part)!;
    if (isFile === '') {
      form.append(name!, value!);
      continue;
    }
    const type = given ?? typesByExtension[extname(value!)] ?? 'application/octet-stream';
    form.append(name!, new File([await readFile(join(folder, value!))], basename(value!), { type }));
  }
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type')!, body: Buffer.from(await encoded.arrayBuffer()) };
}

/** Headers of every response that do not matter to the example. */
const leftOut = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'x-content-type-options',
  'x-request-id',
]);

/**
 * Returns the output of curl, without the omitted headers.
 * @param portOf the real port for a port of the page
 * @param folder the folder of the files that `-F` names
 */
export async function curl(
  words: readonly string[],
  portOf: (shown: string) => number,
  folder: string = '.',
): Promise<string> {
  const { url, method, headers: given, body: text, parts, showHead, jar } = curlRequest(words);
  const form = parts.length === 0 ? null : await encodeForm(parts, folder);
  const headers = form === null ? given : { ...given, 'content-type': form.type };
  const body = form?.body ?? text;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = url.pathname + url.search;
    const sized = body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      { host: '127.0.0.1', port: portOf(url.port), path, method, headers: sized, agent: false },
      resolve,
    );
    outgoing.on('error', reject).end(body ?? undefined);
  });
  const answer = await textOf(response);
  const cookies = response.headers['set-cookie'] ?? [];
  if (jar !== null) jars.set(jar, cookies.map((line) => line.split(';', 1)[0]!).join('; '));
  return showHead ? [...headOf(response, 'x-request-id' in headers), '', answer].join('\n') : answer;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** @param brought whether the request has a request id, which the example shows */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, brought: boolean): readonly string[] {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (!leftOut.has(name) || (brought && name === 'x-request-id'))
      lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return lines;
}
