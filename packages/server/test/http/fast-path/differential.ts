/** Compares the strict parser with the one of `node:http`, for random requests and mutations of them. */
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { parseRequest, type ParserLimits } from '../../../src/http/fast-path/parse-request.ts';

export const limits: ParserLimits = { maxHeaderSize: 2048, maxHeadersCount: 20, maxBodyBytes: 256 };

interface NodeRequest {
  method: string;
  url: string;
  version: string;
  rawHeaders: string[];
  body: string;
  keepsAlive: boolean;
  upgrades: boolean;
  isComplete: boolean;
}

interface NodeResult {
  readonly requests: readonly NodeRequest[];
  /** Null: all bytes were taken. */
  readonly error: string | null;
}

type Callback = (...args: never[]) => unknown;

interface NodeParser {
  [callback: number]: Callback;
  initialize(type: number, resource: object, maxHeaderSize: number): void;
  execute(bytes: Buffer): number | Error;
  close(): void;
}

interface NodeParserClass {
  new (): NodeParser;
  readonly REQUEST: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

type Head = [
  major: number,
  minor: number,
  headers: string[] | undefined,
  method: number,
  url: string | undefined,
  status: number,
  message: string,
  upgrades: boolean,
  keepsAlive: boolean,
];

/** The parser of `node:http` itself: a server in between takes a hundred times as long. */
const { HTTPParser, methods } = createRequire(import.meta.url)('node:_http_common') as {
  readonly HTTPParser: NodeParserClass;
  readonly methods: readonly string[];
};

export function parseByNode(pieces: readonly Buffer[]): NodeResult {
  const requests: NodeRequest[] = [];
  const parser = new HTTPParser();
  let early: string[] = [];
  let earlyUrl = '';
  parser.initialize(HTTPParser.REQUEST, {}, limits.maxHeaderSize);
  parser[HTTPParser.kOnHeaders] = (headers: string[], url: string) => {
    early.push(...headers);
    earlyUrl += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (...head: Head) => {
    const [major, minor, headers, method, url, , , upgrades, keepsAlive] = head;
    const rawHeaders = headers ?? early;
    const target = url ?? earlyUrl;
    early = [];
    earlyUrl = '';
    const version = `${major}.${minor}`;
    const request = { method: methods[method]!, url: target, version, rawHeaders, body: '', keepsAlive, upgrades };
    requests.push({ ...request, isComplete: false });
    return 0;
  };
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    requests.at(-1)!.body += bytes.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    requests.at(-1)!.isComplete = true;
  };
  let error: string | null = null;
  for (const piece of pieces) {
    const result = parser.execute(piece);
    if (typeof result === 'number' && result === piece.length) continue;
    error = typeof result === 'number' ? 'stopped' : result.message;
    break;
  }
  parser.close();
  return { requests, error };
}

export interface Comparison {
  /** The number of requests that the strict parser has taken. */
  readonly accepted: number;
  /** What differs; null: nothing. */
  readonly difference: string | null;
}

/**
 * The strict parser takes requests from the beginning of the bytes until it leaves the rest to `node:http`. Each must be what `node:http` reads,
 * and end at the same byte.
 */
export function compare(bytes: Buffer, cut: number): Comparison {
  let start = 0;
  let accepted = 0;
  for (;;) {
    const rest = bytes.subarray(start);
    const parsed = parseRequest(rest, limits);
    const early = parseRequest(rest.subarray(0, cut % (rest.length + 1)), limits);
    if (typeof early !== 'string' && !isDeepStrictEqual(early, parsed))
      return { accepted, difference: 'a part of the bytes is another request' };
    if (typeof parsed === 'string') return { accepted, difference: null };
    const difference = compareOne(rest.subarray(0, parsed.end), parsed, cut);
    if (difference !== null) return { accepted, difference };
    accepted += 1;
    // What follows `Connection: close` is not read.
    if (!parsed.keepsAlive) return { accepted, difference: null };
    start += parsed.end;
  }
}

type Parsed = Exclude<ReturnType<typeof parseRequest>, string>;

function compareOne(bytes: Buffer, parsed: Parsed, cut: number): string | null {
  const at = cut % (bytes.length + 1);
  const { requests, error } = parseByNode(
    [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0),
  );
  if (error !== null) return `node:http refuses it: ${error}`;
  const [request] = requests;
  if (requests.length !== 1 || request === undefined) return `node:http reads ${requests.length} requests`;
  const expected: NodeRequest = {
    method: parsed.method,
    url: parsed.target,
    version: '1.1',
    rawHeaders: [...parsed.rawHeaders],
    body: bytes.toString('latin1', parsed.bodyStart, parsed.end),
    keepsAlive: parsed.keepsAlive,
    upgrades: false,
    isComplete: true,
  };
  return isDeepStrictEqual(request, expected) ? null : JSON.stringify({ node: request, strict: expected });
}

/** A small, fast generator of numbers (mulberry32): the same cases for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

const usual = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  targets: ['/', '/api/a?b=1&c=%20', '/api/%00/..//x', '/~!$&\'()*+,;=:@[]"<>\\^`{|}'],
  headers: [
    'Accept: */*',
    'X-A:  b  c ',
    'x-empty:',
    'Cookie: a=b; c="d"',
    'Authorization: Basic Og==',
    'a:b:c',
    'If-None-Match: W/"x"',
  ],
};

/** Forms by which requests are smuggled, and those that parsers read differently. */
const odd = {
  methods: ['get', 'TRACE', 'CONNECT', 'QUERY', 'PRI', 'G', '', 'M-SEARCH', 'SOURCE'],
  targets: ['*', 'http://a/b', 'a:80', '', '/a b', '/\u00e9', '/#x', '//a', '/\t', '?x', '/a\u0000'],
  versions: [
    ' HTTP/1.0',
    ' HTTP/1.2',
    ' HTTP/2.0',
    ' HTTP/1.1 ',
    '',
    ' http/1.1',
    '  HTTP/1.1',
    ' HTTP/01.1',
    ' HTTP/1.1\r',
    ' ICE/1.0',
  ],
  headers: [
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding : chunked',
    'transfer-encoding:\tchunked',
    'Transfer-Encoding: chunked, identity',
    'Content-Length: 3',
    'Content-Length: 03',
    'Content-Length: +3',
    'Content-Length: 3, 3',
    'Content-Length: 99999999999999999999',
    'Content-Length: 0x3',
    'Content-Length:',
    'Content-Length: -1',
    'Content-Length: 3\u0000',
    'content_length: 3',
    'Host: b',
    'Host: a, b',
    'Host:',
    'Host: a/b@c',
    ' folded: x',
    '\tfolded',
    'X: a\r\n b',
    'X: a\nY: b',
    'X: a\rY: b',
    'X: a\u0000b',
    'X: \u00e9',
    'X: a\u007fb',
    'no colon',
    ': no name',
    'bad name: x',
    'X-\u0000: x',
    'Upgrade: websocket',
    'Connection: upgrade',
    'Connection: close',
    'Connection: close, keep-alive',
    'Connection: Keep-Alive',
    'Connection: TE',
    'Expect: 100-continue',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: close',
    'Trailer: X',
    'TE: trailers',
    'HTTP2-Settings: x',
    '__proto__: x',
    'constructor: x',
    'Set-Cookie: a',
    `X: ${'a'.repeat(1500)}`,
  ],
  ends: ['\n', '\r', '\r\r\n', '\r\n\r\n', '\n\r\n', ' \r\n', '\u0000\r\n', '\u000b\r\n'],
  bodies: ['0\r\n\r\n', '3;x=y\r\nabc\r\n0\r\n\r\n', '3\nabc\n0\n\n', 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'],
};

const splices = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  '\t',
  ' ',
  ':',
  ',',
  ';',
  '\x7f',
  '\x80',
  '\xff',
  '0',
  ...odd.headers.map((header) => `${header}\r\n`),
];

/** Returns the bytes of a case: some requests, and mutations of them. */
export function randomBytes(random: Random): Buffer {
  const count = 1 + random.below(3);
  let text = '';
  for (let index = 0; index < count; index += 1) text += randomRequest(random);
  const mutations = random.next() < 0.5 ? 0 : 1 + random.below(3);
  for (let index = 0; index < mutations; index += 1) text = mutate(text, random);
  return Buffer.from(text, 'latin1');
}

function randomRequest(random: Random): string {
  const rate = random.next() < 0.6 ? 0 : 0.15;
  const isOdd = (): boolean => random.next() < rate;
  const end = (): string => either(['\r\n'], odd.ends);
  const either = (plain: readonly string[], strange: readonly string[]): string =>
    random.pick(isOdd() ? strange : plain);
  const method = either(usual.methods, odd.methods);
  const lines = [`${method} ${either(usual.targets, odd.targets)}${either([' HTTP/1.1'], odd.versions)}`];
  if (!isOdd()) lines.push(random.pick(['Host: a', 'host: a:80', 'HOST: [::1]:8080']));
  const headers = random.next() < 0.02 ? 30 : random.below(4);
  for (let index = 0; index < headers; index += 1)
    lines.push(isOdd() ? random.pick(odd.headers) : numbered(random, index));
  const body = random.next() < 0.3 ? randomBody(random) : '';
  if (body !== '' || random.next() < 0.1) lines.push(`Content-Length: ${isOdd() ? random.below(9) : body.length}`);
  if (random.next() < 0.1) lines.push(random.pick(['Connection: keep-alive', 'connection: close']));
  return `${lines.map((line) => line + end()).join('')}${end()}${body}`;
}

/** Without repeated names in most cases. */
function numbered(random: Random, index: number): string {
  const header = random.pick(usual.headers);
  return random.next() < 0.9 ? `n${index}-${header}` : header;
}

function randomBody(random: Random): string {
  if (random.next() < 0.3) return random.pick(odd.bodies);
  return Array.from({ length: random.below(40) }, () => String.fromCharCode(random.below(256))).join('');
}

function mutate(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const other = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at) + random.pick(splices) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3));
    case 2:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    case 3:
      return text.slice(0, Math.max(at, other)) + text.slice(Math.min(at, other));
    default:
      return text.slice(0, at);
  }
}

/** Compares the cases of a seed and the following ones. Returns the share of cases with an accepted request. @throws Error for a difference */
export function fuzz(seed: number, cases: number): number {
  let accepted = 0;
  for (let index = 0; index < cases; index += 1) {
    const random = new Random(seed + index);
    const bytes = randomBytes(random);
    const result = compare(bytes, random.below(bytes.length + 1));
    if (result.difference !== null) {
      throw new Error(`case ${seed + index}: ${result.difference}\n${JSON.stringify(bytes.toString('latin1'))}`);
    }
    if (result.accepted > 0) accepted += 1;
  }
  return accepted / cases;
}
