import { stringLiteral } from '../source-text.ts';
import { isLogin, hasEvents, isUpload } from './common-interfaces.ts';
import type { ClientModel } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';
import { isInherited } from './type-text.ts';

/** Writes what only TypeScript has, or nothing in plain JavaScript. */
export type TypeScriptOnly = (text: string) => string;

/** What the functions share: only what one of them uses. */
export function runtime(
  model: ClientModel,
  options: TypescriptClientOptions,
  typed: TypeScriptOnly,
): readonly string[] {
  const { functions } = model;
  const uses = (name: string, inUse: boolean): readonly string[] => (inUse ? [functionTexts[name]!(typed)] : []);
  const inQuery = functions.some(usesQuery);
  const ownQuery = inQuery && options.importParseQueryFrom === null;
  const inPath = functions.some(({ endpoint }) => endpoint.parameters.some((parameter) => parameter.inPath));
  return [
    ...(options.importBaseUrlFrom === null && functions.length > 0
      ? [`const _baseUrl${typed(': string')} = ${stringLiteral(baseUrl(options))};`]
      : []),
    ...uses('error', functions.length > 0),
    ...uses(
      'send',
      functions.some((one) => !one.statusCode && !isUpload(one)),
    ),
    ...uses('problem', functions.length > 0),
    ...uses('signedIn', functions.some(isLogin)),
    ...uses('sendFiles', functions.some(isUpload)),
    ...uses('follow', functions.some(hasEvents)),
    ...uses('query', ownQuery),
    ...uses('segment', inPath),
    ...uses('text', ownQuery || inPath),
    ...uses('without', functions.some(splitsRequest)),
    ...uses('own', functions.some(readsInherited)),
    ...uses(
      'scalar',
      functions.some(({ result }) => result.kind === 'scalar'),
    ),
  ];
}

type One = ClientModel['functions'][number];

/** Whether something of the request goes into the query string. */
export function usesQuery({ endpoint }: One): boolean {
  const { parameters, parameterSource, bodyParameter } = endpoint;
  return (
    parameterSource === 'query' && parameters.some(({ inPath, position }) => !inPath && position !== bodyParameter)
  );
}

/** Whether the request goes into the body, as JSON. */
export function usesBody({ endpoint }: One): boolean {
  return endpoint.parameterSource === 'body' && endpoint.parameters.some(({ inPath }) => !inPath);
}

/** Whether some of the request goes elsewhere than the rest. */
export function splitsRequest(one: One): boolean {
  const { parameters, bodyParameter } = one.endpoint;
  const elsewhere = parameters.some(({ inPath, position }) => inPath || position === bodyParameter);
  return elsewhere && (usesQuery(one) || usesBody(one));
}

/** Whether a member that every object inherits is read on its own: in the path, or as the body. */
function readsInherited({ endpoint }: One): boolean {
  const { parameters, bodyParameter } = endpoint;
  return parameters.some(({ key, inPath, position }) => isInherited(key) && (inPath || position === bodyParameter));
}

function baseUrl({ customHost, includeHost, host }: TypescriptClientOptions): string {
  return (customHost ?? (includeHost ? host : null) ?? '').replace(/\/+$/, '');
}

const functionTexts: Readonly<Record<string, (typed: TypeScriptOnly) => string>> = {
  error: (typed) => `/** An answer that is no success; the problem says why. */
export class GatewayError extends Error {
  ${typed('readonly ')}status${typed(': number')};
  ${typed('readonly ')}problem${typed(': IProblem')};
  /** Of the answer: \`Retry-After\`, \`WWW-Authenticate\`. */
  ${typed('readonly ')}headers${typed(': Headers')};

  constructor(problem${typed(': IProblem')}, headers${typed(': Headers')} = new Headers()) {
    super(problem.title);
    this.name = "GatewayError";
    this.status = problem.status;
    this.problem = problem;
    this.headers = headers;
  }
}`,
  send: (
    typed,
  ) => `async function _send(url${typed(': string')}, init${typed(': RequestInit')}, options${typed(': ICallOptions')})${typed(': Promise<Response>')} {
  const response = await fetch(url, init);
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  return response;
}`,
  problem: (typed) => `/** Null for a success. A call that the database cancelled is answered with 205, and is none. */
async function _problem(response${typed(': Response')})${typed(': Promise<IProblem | null>')} {
  if (response.ok && response.status !== 205) return null;
  const text = await response.text();
  const plain = { type: "about:blank", title: text || response.statusText || String(response.status), status: response.status };
  if (!(response.headers.get("content-type") ?? "").includes("json")) return plain;
  try {
    const problem${typed(': unknown')} = JSON.parse(text);
    return typeof problem === "object" && problem !== null ? { ...plain, ...problem } : plain;
  } catch {
    return plain;
  }
}`,
  sendFiles: (typed) => `/** Browsers tell how far files have come of one kind of request alone. */
async function _sendFiles(url${typed(': string')}, init${typed(': RequestInit')}, files${typed(': Blob | readonly Blob[]')}, onProgress${typed('?: (progress: IUploadProgress) => void')})${typed(': Promise<Response>')} {
  const body = new FormData();
  for (const file of files instanceof Blob ? [files] : files) {
    body.append("file", file, file instanceof File ? file.name : "file");
  }
  if (onProgress === undefined || typeof XMLHttpRequest === "undefined") return fetch(url, { ...init, body });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? "POST", url);
    for (const [name, value] of Object.entries(init.headers ?? {})) request.setRequestHeader(name, String(value));
    request.responseType = "blob";
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total });
    request.onload = () => {
      const { status, statusText } = request;
      const content = [204, 205, 304].includes(status) ? null : request.response;
      resolve(new Response(content, { status, statusText, headers: _headersOf(request) }));
    };
    request.onerror = () => reject(new TypeError("The upload failed"));
    request.onabort = () => reject(new DOMException("The upload was aborted", "AbortError"));
    init.signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function _headersOf(request${typed(': XMLHttpRequest')})${typed(': Headers')} {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split("\\r\\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}`,
  follow: (
    typed,
  ) => `/** Follows what a call raises: the call and the stream know each other by an id that nobody can guess. */
async function _follow(url${typed(': string')}, { onMessage, headers }${typed(': IEventOptions')})${typed(': Promise<{ headers: Record<string, string>; end: () => void }>')} {
  if (onMessage === undefined) return { headers: {}, end: () => undefined };
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const ended = new AbortController();
  const response = await fetch(\`\${url}?\${id}\`, { headers: { Accept: "text/event-stream", ...headers }, signal: ended.signal });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  _readMessages(response, onMessage).catch(() => undefined);
  // What was raised last may still be on its way when the answer is there.
  return { headers: { "X-Gateway-ID": id }, end: () => void setTimeout(() => ended.abort(), 1000) };
}

async function _readMessages(response${typed(': Response')}, onMessage${typed(': (message: string) => void')})${typed(': Promise<void>')} {
  const reader = response.body${typed('!')}.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const events = (rest + next.value).split("\\n\\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const lines = event.split("\\n");
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      if (data.length > 0 && !lines.some((line) => line.startsWith("event: "))) onMessage(data.join("\\n"));
    }
  }
}`,
  signedIn: (typed) => `async function _signedIn(response${typed(': Response')})${typed(': Promise<ISignedIn>')} {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return isJson ? (await response.json())${typed(' as ITokens')} : await response.text();
}`,
  query: (typed) => `/** \`?key=value\`; arrays repeat their key, and what is undefined is left out. */
function _parseQuery(query${typed(': object')}, nullText${typed(': string')} = "")${typed(': string')} {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one) => \`\${encodeURIComponent(key)}=\${encodeURIComponent(one === null ? nullText : _text(one))}\`),
  );
  return pairs.length === 0 ? "" : \`?\${pairs.join("&")}\`;
}`,
  segment: (
    typed,
  ) => `/** A value in a path. URLs cannot have some texts as a segment: they would lead to another path. */
function _segment(value${typed(': unknown')})${typed(': string')} {
  const text = _text(value);
  if (["", ".", ".."].includes(text)) throw new TypeError(\`"\${text}" cannot stand in a path\`);
  return encodeURIComponent(text);
}`,
  text: (typed) => `function _text(value${typed(': unknown')})${typed(': string')} {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}`,
  without: (typed) => `/** A request without what stands elsewhere than the rest of it. */
function _without(request${typed(': object')}, keys${typed(': readonly string[]')})${typed(': object')} {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !keys.includes(key)));
}`,
  own: (typed) => `/** What the request itself has under a name that every object inherits. */
function _own(request${typed(': object')}, key${typed(': string')}) {
  return Object.getOwnPropertyDescriptor(request, key)?.value;
}`,
  scalar: (typed) => `/** A value that is answered as text; NULL is an answer without content, or a text of its own. */
async function _scalar(response${typed(': Response')}, nullText${typed(': string')})${typed(': Promise<string | null>')} {
  const text = await response.text();
  return response.status === 204 || text === nullText ? null : text;
}`,
};
