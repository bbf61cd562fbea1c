import type {
  ICallOptions,
  IProblem,
  INewLineRequest,
  I100SureRequest,
  IAwaitRequest,
  IAwaitResponse,
  IExampleOrgIdRequest,
  IClassDeleteRequest,
  IClassDeleteResponse,
  IFetchRequest,
  IMoodMoodRequest,
  IThenRequest,
  IConstructorConstructorToStringRequest,
  IConstructorConstructorToStringResponse,
  IU1f916RobotRequest,
} from "./clientTypes.d.ts";
export type * from "./clientTypes.d.ts";

const _baseUrl: string = "";

/** Whether the server has no such path, method or parameters, which it had when this client was generated. */
const _isOutdated = ({ type, title, status }: IProblem, headers: Headers): boolean =>
  // A 404 of a routine or a proxy has another content type or title.
  (status === 404 &&
    type === "about:blank" &&
    title === "Not found" &&
    (headers.get("content-type") ?? "").startsWith("application/problem+json")) ||
  /:(?:unknown-endpoint|method-not-allowed|unknown-parameter|missing-parameter|no-matching-signature)$/.test(type);

/** A failed call; the problem says why. */
export class GatewayError extends Error {
  readonly status: number;
  readonly problem: IProblem;
  /** Of the response: `Retry-After`, `WWW-Authenticate`. */
  readonly headers: Headers;

  constructor(problem: IProblem, headers: Headers = new Headers()) {
    super(_isOutdated(problem, headers) ? `${problem.title}: generate this client again if the server has changed since` : problem.title);
    this.name = "GatewayError";
    this.status = problem.status;
    this.problem = problem;
    this.headers = headers;
  }
}

async function _send(url: string, init: RequestInit, options: ICallOptions): Promise<Response> {
  const response = await _fetch(url, init);
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  return response;
}

/** Null for a success. Status 205 is an error: the database cancelled the call. */
async function _problem(response: Response): Promise<IProblem | null> {
  if (response.ok && response.status !== 205) return null;
  const text = await response.text();
  const plain = { type: "about:blank", title: text || response.statusText || String(response.status), status: response.status };
  if (!(response.headers.get("content-type") ?? "").includes("json")) return plain;
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === "object" && problem !== null ? { ...plain, ...problem } : plain;
  } catch {
    return plain;
  }
}

/** `?key=value`; arrays repeat their key, undefined is omitted. */
function _parseQuery(query: object, nullText: string = ""): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(one === null ? nullText : _text(one))}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Sends a query string that may be too long for a URL in the body, with the method QUERY (RFC 10008). */
function _long(url: string, init: RequestInit, isBatch: boolean = false): [url: string, init: RequestInit] {
  const start = url.indexOf("?");
  if (isBatch || start === -1 || url.length <= 4000) return [url, init];
  const headers = new Headers(init.headers);
  headers.set("Content-Type", "application/x-www-form-urlencoded");
  return [url.slice(0, start), { ...init, method: "QUERY", headers, body: url.slice(start + 1) }];
}

/** Repeats a request as GET if a server or a proxy before it does not answer QUERY. */
async function _fetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (init.method !== "QUERY" || (response.status !== 405 && response.status !== 501)) return response;
  await response.body?.cancel();
  const headers = new Headers(init.headers);
  headers.delete("Content-Type");
  return fetch(`${url}?${String(init.body)}`, { ...init, method: "GET", headers, body: null });
}

/** Encodes a path segment. An empty one, `.` and `..` would change the path. */
function _segment(value: unknown): string {
  const text = _text(value);
  if (["", ".", ".."].includes(text)) throw new TypeError(`"${text}" cannot be a path segment`);
  return encodeURIComponent(text);
}

function _text(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Omits members that are in the path or body. */
function _without(request: object, keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !keys.includes(key)));
}

/** Reads a member whose name every object inherits. */
function _own(request: object, key: string) {
  return Object.getOwnPropertyDescriptor(request, key)?.value;
}

/** Reads a value from text. NULL is status 204 or `nullText`. */
async function _scalar(response: Response, nullText: string): Promise<string | null> {
  const text = await response.text();
  return response.status === 204 || text === nullText ? null : text;
}

/**
 * "*\/ alert(1) /*"."new
 * line"("a
 * b" integer)
 *
 * The comment has
 * odd
 * line ends.
 *
 * @param request.a b - integer
 * @returns {number | null}
 * @remarks GET /api/new-line
 * @see FUNCTION *\/ alert(1) /*.new line
 */
export async function newLine(
  request: INewLineRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(..._long(_baseUrl + "/api/new-line" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * class."100%"("percent%" integer)
 *
 * @param request.percent% - integer, may be left out
 * @returns {number | null}
 * @remarks GET /api/100%-[sure]
 * @see FUNCTION class.100%
 */
export async function _100Sure(
  request: I100SureRequest = {},
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(..._long(_baseUrl + "/api/100%25-%5Bsure%5D" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * class.await(let class.__proto__, in jsonb)
 *
 * @param request.let - class.__proto__
 * @param request.in - jsonb, may be left out
 * @returns {IAwaitResponse | null}
 * @remarks POST /api/await
 * @see FUNCTION class.await
 */
export async function await_(
  request: IAwaitRequest,
  options: ICallOptions = {},
): Promise<IAwaitResponse | null> {
  const response = await _send(_baseUrl + "/api/await", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : (await response.json()) as IAwaitResponse;
}

/**
 * class.away(id integer)
 *
 * @param request.id - integer
 * @returns {number | null}
 * @remarks GET //example.org/{id}
 * @see FUNCTION class.away
 */
export async function exampleOrgId(
  request: IExampleOrgIdRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(_baseUrl + "/.//example.org/" + _segment(request.id), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * class.delete(default integer, __proto__ text, "*\/ x" text, "${a}`" text)
 *
 * Ends a comment: *\/ process.exit(1); /* and goes on.
 * A template `${process.exit(1)}`, a "quote", a 'quote', a \ backslash, <script>alert(1)<\/script> and <\/script>.
 * @prompt password
 * @ts-ignore
 * {{host}}
 * ### a request of its own
 * # @name forged
 * GET http://example.org/forged
 * The end \u202e of it.
 *
 * @param request.default - integer
 * @param request.proto - text
 * @param request.*\/ x - text, may be left out
 * @param request.${a}` - text, may be left out
 * @returns {IClassDeleteResponse[]}
 * @remarks GET /api/class/delete
 * @see FUNCTION class.delete
 */
export async function classDelete(
  request: IClassDeleteRequest,
  options: ICallOptions = {},
): Promise<IClassDeleteResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/class/delete" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IClassDeleteResponse[];
}

/**
 * class.fetch(moods class."mood `${1}`"[])
 *
 * @param request.moods - class."mood `${1}`"[]
 * @returns {("fine" | "it's *\/ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null)[]}
 * @remarks GET /api/fetch
 * @see FUNCTION class.fetch
 */
export async function fetch_(
  request: IFetchRequest,
  options: ICallOptions = {},
): Promise<("fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null)[]> {
  const response = await _send(..._long(_baseUrl + "/api/fetch" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as ("fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null)[];
}

/**
 * class."mood of"(mood class."mood `${1}`")
 *
 * @param request.mood - class."mood `${1}`"
 * @returns {"fine" | "it's *\/ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null}
 * @remarks GET /api/mood/{mood}
 * @see FUNCTION class.mood of
 */
export async function moodMood(
  request: IMoodMoodRequest,
  options: ICallOptions = {},
): Promise<"fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null> {
  const response = await _send(_baseUrl + "/api/mood/" + _segment(request.mood), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text as "fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null;
}

/**
 * class.then("valueOf" integer)
 *
 * @param request.valueOf - integer, may be left out
 * @returns {number | null}
 * @remarks GET /api/then
 * @see FUNCTION class.then
 */
export async function then_(
  request: IThenRequest = {},
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(..._long(_baseUrl + "/api/then" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * class.then2()
 *
 * @returns {number | null}
 * @remarks GET /api/_then
 * @see FUNCTION class.then2
 */
export async function then2(
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(_baseUrl + "/api/_then", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * class."toString"(constructor text, "toString" text, "valueOf" integer)
 *
 * @param request.constructor - text
 * @param request.toString - text, may be left out
 * @param request.valueOf - integer, may be left out
 * @returns {IConstructorConstructorToStringResponse[]}
 * @remarks GET /api/constructor/{constructor}/{toString?}
 * @see FUNCTION class.toString
 */
export async function constructorConstructorToString(
  request: IConstructorConstructorToStringRequest,
  options: ICallOptions = {},
): Promise<IConstructorConstructorToStringResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/constructor/" + _segment(_own(request, "constructor")) + (_own(request, "toString") === undefined ? "" : `/${_segment(_own(request, "toString"))}`) + _parseQuery(_without(request, ["constructor", "toString"])), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IConstructorConstructorToStringResponse[];
}

/**
 * class."🤖 'robot' *\/"("😀" text)
 *
 * @param request.😀 - text
 * @returns {string}
 * @remarks GET /api/🤖/*\/robot
 * @see FUNCTION class.🤖 'robot' *\/
 */
export async function u1f916Robot(
  request: IU1f916RobotRequest,
  options: ICallOptions = {},
): Promise<string> {
  const response = await _send(..._long(_baseUrl + "/api/%F0%9F%A4%96/*/robot" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return await response.text();
}
