/** Status and headers of a response. */
export interface IAnswer {
  status: number;
  headers: Headers;
}

/** Options of a call. */
export interface ICallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
  /** Receives the status and headers of the response, also of an error. */
  onResponse?: ((answer: IAnswer) => void) | undefined;
}

/** Why a call failed (RFC 9457). Errors of the database have `code`, the SQLSTATE, and further fields of PostgreSQL. */
export interface IProblem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code?: string;
  hint?: string;
  constraint?: string;
  column?: string;
  table?: string;
  /** The refused parameters of the request. */
  errors?: readonly IFieldError[];
  [member: string]: unknown;
}

/** Why a parameter was refused. `pointer` is its JSON Pointer, such as `/email`; empty: the request as a whole. */
export interface IFieldError {
  pointer: string;
  code: "required" | "unknown" | "repeated" | "invalid" | "too-short" | "too-long" | "out-of-range" | "not-null" | "unique" | "foreign-key" | "check" | "exclusion";
  detail: string;
}

/** Tokens of a login; times are seconds. */
export interface ITokens {
  token_type: string;
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  refresh_expires_in?: number;
}

/** The result of a login: tokens, or the message of the routine. The browser keeps cookies. */
export type ISignedIn = ITokens | string;

/** Options of a call with messages. */
export interface IEventOptions extends ICallOptions {
  /** Receives each message that the call raises. */
  onMessage?: ((message: string) => void) | undefined;
}

/** The progress of an upload, in bytes. */
export interface IUploadProgress {
  loaded: number;
  total: number;
}

/** Options of an upload. */
export interface IUploadOptions extends ICallOptions {
  /** Receives the progress. */
  onProgress?: ((progress: IUploadProgress) => void) | undefined;
}

/** A file of an upload, as the database receives it. */
export interface IUploadedFile {
  fileName: string;
  contentType: string;
  size: number;
  success: boolean;
  status: "Ok" | "Empty" | "ProbablyBinary" | "NoNewLines" | "InvalidImage" | "InvalidMimeType" | "InvalidFormat" | "Ignored";
}

/** The metadata of an upload, for routines that return it: an array with an object for each handler and file. */
export type IUploadMetadata =
  | (IUploadedFile & { type: "large_object"; oid: number | null });

export interface IAcceptInvitationRequest {
  invitation: string | null;
  password: string | null;
}

export interface IAddExpenseRequest {
  description: string | null;
  amount: number | null;
  spentOn: string | null;
}

export interface IAddReceiptRequest {
  id: number;
}

export interface IChangeExpenseRequest {
  id: number;
  description: string | null;
  amount: number | null;
  spentOn: string | null;
}

export interface IDecideRequest {
  id: number;
  approved: boolean | null;
}

export interface IListExpensesResponse {
  id: number | null;
  owner: string | null;
  description: string | null;
  amount: number | null;
  spentOn: string | null;
  status: string | null;
  receipt: string | null;
  mine: boolean | null;
}

export interface IMeResponse {
  name: string | null;
  roles: (string | null)[] | null;
}

export interface ISignInRequest {
  email: string | null;
  password: string | null;
}

export interface IWithdrawExpenseRequest {
  id: number;
}

const _baseUrl: string = "";

/** A failed call; the problem says why. */
export class GatewayError extends Error {
  readonly status: number;
  readonly problem: IProblem;
  /** Of the response: `Retry-After`, `WWW-Authenticate`. */
  readonly headers: Headers;

  constructor(problem: IProblem, headers: Headers = new Headers()) {
    super(problem.title);
    this.name = "GatewayError";
    this.status = problem.status;
    this.problem = problem;
    this.headers = headers;
  }
}

async function _send(url: string, init: RequestInit, options: ICallOptions): Promise<Response> {
  const response = await fetch(url, init);
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

async function _signedIn(response: Response): Promise<ISignedIn> {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return isJson ? (await response.json()) as ITokens : await response.text();
}

/** Sends a form with the files. */
async function _sendFiles(url: string, init: RequestInit, files: Blob | readonly Blob[], onProgress?: (progress: IUploadProgress) => void): Promise<Response> {
  const form = new FormData();
  for (const file of files instanceof Blob ? [files] : files) {
    form.append("file", file, file instanceof File ? file.name : "file");
  }
  if (onProgress === undefined) return fetch(url, { ...init, body: form });
  return typeof XMLHttpRequest === "undefined" ? _stream(url, init, form, onProgress) : _upload(url, init, form, onProgress);
}

/** Counts the bytes that `fetch` reads. */
async function _stream(url: string, init: RequestInit, form: FormData, onProgress: (progress: IUploadProgress) => void): Promise<Response> {
  const encoded = new Response(form);
  const headers = new Headers(init.headers);
  headers.set("Content-Type", encoded.headers.get("content-type") ?? "");
  const total = [...form.values()].reduce((sum, file) => sum + (file instanceof Blob ? file.size : 0), 0);
  let loaded = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      // The form has other bytes too.
      loaded = Math.min(total, loaded + chunk.byteLength);
      onProgress({ loaded, total });
    },
  });
  const body = encoded.body!.pipeThrough(counter);
  const streamed: RequestInit & { duplex: "half" } = { ...init, headers, body, duplex: "half" };
  return fetch(url, streamed);
}

/** Browsers report the progress of an XMLHttpRequest only. */
function _upload(url: string, init: RequestInit, form: FormData, onProgress: (progress: IUploadProgress) => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = init;
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const fail = () => reject(signal?.aborted ? signal.reason : new TypeError("The upload failed"));
    if (signal?.aborted) return fail();
    request.open(init.method ?? "POST", url);
    new Headers(init.headers).forEach((value, name) => request.setRequestHeader(name, value));
    request.responseType = "blob";
    request.withCredentials = init.credentials === "include";
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total });
    request.onload = () => {
      const { status, statusText } = request;
      const content = [204, 205, 304].includes(status) ? null : request.response;
      resolve(new Response(content, { status, statusText, headers: _headersOf(request) }));
    };
    request.onerror = request.onabort = fail;
    request.onloadend = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort);
    request.send(form);
  });
}

function _headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/** Opens the event stream of a call. A random id connects the call and the stream. */
async function _follow(url: string, { onMessage, headers }: IEventOptions): Promise<{ headers: Record<string, string>; end: () => void }> {
  if (onMessage === undefined) return { headers: {}, end: () => undefined };
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const ended = new AbortController();
  const response = await fetch(`${url}?${id}`, { headers: { Accept: "text/event-stream", ...headers }, signal: ended.signal });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  _readEvents(response, (type, data) => {
    if (type === "message") onMessage(data);
  }).catch(() => undefined);
  // The last messages may arrive after the response.
  return { headers: { "X-Gateway-ID": id }, end: () => void setTimeout(() => ended.abort(), 1000) };
}

/** Reads server-sent events. An id may have no event: it is `cut`, as the comment at the end of changes that belong together. */
async function _readEvents(response: Response, receive: (type: string, data: string, id: string) => void, receiveId: (id: string) => void = () => undefined): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let id = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const events = (rest + next.value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const lines = event.split("\n");
      const values = (field: string) => lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length));
      const data = values("data: ");
      id = values("id: ").at(-1) ?? id;
      receiveId(id);
      if (data.length > 0) receive(values("event: ")[0] ?? "message", data.join("\n"), id);
      else if (lines.includes(": cut") || values("id: ").length > 0) receive("cut", "", id);
    }
  }
}

export interface IStreamOptions {
  /** Closes the stream. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
}

/**
 * An event stream with the members of `EventSource`, and with the headers of calls. It connects again by itself, and gets the events that
 * it has missed. An event `error` with a `problem` is the last one: the server refuses the stream.
 */
export class EventStream extends EventTarget {
  readonly url: string;
  /** 0: connecting; 1: open; 2: closed. */
  readyState: number = 0;
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent<string>) => void) | null = null;
  onerror: ((event: Event & { problem?: IProblem }) => void) | null = null;
  private readonly _closed = new AbortController();
  private _lastId = "";
  private _wake: () => void = () => undefined;

  constructor(url: string, { headers, signal }: IStreamOptions = {}) {
    super();
    this.url = url;
    this.addEventListener("open", (event) => this.onopen?.(event));
    this.addEventListener("message", (event) => this.onmessage?.(event));
    this.addEventListener("error", (event) => this.onerror?.(event));
    signal?.addEventListener("abort", () => this.close(), { once: true });
    if (signal?.aborted) this.close();
    void this._run(headers);
  }

  override addEventListener(type: "open" | "error", listener: (event: Event & { problem?: IProblem }) => void, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: (event: MessageEvent<string>) => void, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: unknown, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(type, listener as EventListener | null, options);
  }

  /** The id of the last event. */
  get lastEventId(): string {
    return this._lastId;
  }

  close(): void {
    this.readyState = 2;
    this._closed.abort();
    this._wake();
  }

  private async _run(headers: Record<string, string> | undefined): Promise<void> {
    for (let delay = 1000; this.readyState !== 2; delay = Math.min(2 * delay, 30000)) {
      try {
        const response = await fetch(this.url, { headers: { Accept: "text/event-stream", ...headers, ...(this._lastId === "" ? {} : { "Last-Event-ID": this._lastId }) }, cache: "no-store", signal: this._closed.signal });
        const problem = await _problem(response);
        if (problem === null) {
          delay = 500;
          await this._read(response);
        } else if (problem.status < 500 && problem.status !== 429) {
          this.close();
          this.dispatchEvent(Object.assign(new Event("error"), { problem }));
        }
      } catch {
        // The connection was lost.
      }
      await this._pause(delay);
    }
  }

  private async _read(response: Response): Promise<void> {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
    await _readEvents(
      response,
      (type, data, lastEventId) => {
        if (this.readyState === 1) this.dispatchEvent(new MessageEvent(type, { data, lastEventId }));
      },
      (id) => void (this._lastId = id || this._lastId),
    );
  }

  /** Clients do not come back at once, all at the same time. */
  private async _pause(delay: number): Promise<void> {
    if (this.readyState === 2) return;
    this.readyState = 0;
    this.dispatchEvent(new Event("error"));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delay * (0.5 + Math.random() / 2));
      this._wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
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

/** Reads a value from text. NULL is status 204 or `nullText`. */
async function _scalar(response: Response, nullText: string): Promise<string | null> {
  const text = await response.text();
  return response.status === 204 || text === nullText ? null : text;
}

/**
 * api.accept_invitation(_invitation text, _password text, _hash text)
 *
 * @param request.invitation - text
 * @param request.password - text
 * @returns {void}
 * @remarks POST /api/invitation
 * @see FUNCTION api.accept_invitation
 */
export async function acceptInvitation(
  request: IAcceptInvitationRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/invitation", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * api.add_expense(_description text, _amount numeric, _spent_on date)
 *
 * For signed-in callers.
 *
 * @param request.description - text
 * @param request.amount - numeric
 * @param request.spentOn - date
 * @returns {number | null}
 * @remarks POST /api/expenses
 * @see FUNCTION api.add_expense
 */
export async function addExpense(
  request: IAddExpenseRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(_baseUrl + "/api/expenses", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * api.add_receipt(_id integer, _files json)
 *
 * For signed-in callers.
 *
 * @param request.id - integer
 * @returns {void}
 * @remarks POST /api/expenses/{id}/receipt
 * @see FUNCTION api.add_receipt
 */
export async function addReceipt(
  files: Blob | readonly Blob[],
  request: IAddReceiptRequest,
  options: IUploadOptions = {},
): Promise<void> {
  const response = await _sendFiles(_baseUrl + "/api/expenses/" + _segment(request.id) + "/receipt", {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, files, options.onProgress);
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
}

/**
 * api.change_expense(_id integer, _description text, _amount numeric, _spent_on date)
 *
 * For signed-in callers.
 *
 * @param request.id - integer
 * @param request.description - text
 * @param request.amount - numeric
 * @param request.spentOn - date
 * @returns {void}
 * @remarks PUT /api/expenses/{id}
 * @see FUNCTION api.change_expense
 */
export async function changeExpense(
  request: IChangeExpenseRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/expenses/" + _segment(request.id), {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(_without(request, ["id"])),
    signal: options.signal ?? null,
  }, options);
}

/**
 * api.decide(_id integer, _approved boolean)
 *
 * For approver.
 *
 * @param request.id - integer
 * @param request.approved - boolean
 * @returns {void}
 * @remarks POST /api/expenses/{id}/decision
 * @see FUNCTION api.decide
 */
export async function decide(
  request: IDecideRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/expenses/" + _segment(request.id) + "/decision", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(_without(request, ["id"])),
    signal: options.signal ?? null,
  }, options);
}

export const listExpensesEvents = (executionId: string = "", options: IStreamOptions = {}): EventStream => new EventStream(_baseUrl + "/api/expenses/live" + (executionId === "" ? "" : `?${executionId}`), options);

/**
 * api.list_expenses()
 *
 * For signed-in callers.
 *
 * @returns {IListExpensesResponse[]}
 * @remarks GET /api/expenses
 * @see FUNCTION api.list_expenses
 */
export async function listExpenses(
  options: IEventOptions = {},
): Promise<IListExpensesResponse[]> {
  const events = await _follow(_baseUrl + "/api/expenses/live", options);
  try {
    const response = await _send(_baseUrl + "/api/expenses", {
      method: "GET",
      headers: { ...events.headers, ...options.headers },
      signal: options.signal ?? null,
    }, options);
    return (await response.json()) as IListExpensesResponse[];
  } finally {
    events.end();
  }
}

/**
 * api.me(_user_name text, _user_roles text[])
 *
 * The caller; null before the sign-in.
 *
 * @returns {IMeResponse}
 * @remarks GET /api/me
 * @see FUNCTION api.me
 */
export async function me(
  options: ICallOptions = {},
): Promise<IMeResponse> {
  const response = await _send(_baseUrl + "/api/me", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IMeResponse;
}

/**
 * api.sign_in(_email text, _password text)
 *
 * @param request.email - text
 * @param request.password - text
 * @returns {ISignedIn}
 * @remarks POST /api/sign-in
 * @see FUNCTION api.sign_in
 */
export async function signIn(
  request: ISignInRequest,
  options: ICallOptions = {},
): Promise<ISignedIn> {
  const response = await _send(_baseUrl + "/api/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return await _signedIn(response);
}

/**
 * api.sign_out()
 *
 * For signed-in callers.
 *
 * @returns {void}
 * @remarks POST /api/sign-out
 * @see FUNCTION api.sign_out
 */
export async function signOut(
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/sign-out", {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}

/**
 * api.withdraw_expense(_id integer)
 *
 * For signed-in callers.
 *
 * @param request.id - integer
 * @returns {void}
 * @remarks DELETE /api/expenses/{id}
 * @see FUNCTION api.withdraw_expense
 */
export async function withdrawExpense(
  request: IWithdrawExpenseRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/expenses/" + _segment(request.id), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}
