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

export interface IMeResponse {
  id: number | null;
  name: string | null;
  company: string | null;
  roles: (string | null)[] | null;
}

export interface ISignInRequest {
  email: string | null;
  password: string | null;
}

export interface IWithdrawExpenseRequest {
  id: number;
}

export interface IExpenseGetRequest {
  id?: number | null | string | (number | null | string)[];
  company?: string | string[];
  ownerId?: number | null | string | (number | null | string)[];
  owner?: string | string[];
  description?: string | string[];
  amount?: number | null | string | (number | null | string)[];
  spentOn?: string | null | (string | null)[];
  status?: string | string[];
  decidedBy?: number | null | string | (number | null | string)[];
  receipt?: string | string[];
  order?: string;
  limit?: number | null;
  offset?: number | null;
  after?: string[];
  select?: string;
  or?: string | string[];
  and?: string | string[];
}

export interface IExpenseGetResponse {
  id: number;
  company: string;
  ownerId: number;
  owner: string;
  description: string;
  amount: number;
  spentOn: string;
  status: string;
  decidedBy: number | null;
  receipt: string | null;
}

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
          this.dispatchEvent(Object.assign(new Event("error"), { problem, headers: response.headers }));
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

/** A change of a row. After a delete, `old` has the key, or the row where the table has `changes old`. */
export interface IRowChange<Row extends object> {
  type: "row" | "insert" | "update" | "delete" | "truncate" | "gap" | "reset";
  schema?: string;
  table?: string;
  commitTimestamp?: string;
  record?: Row;
  old?: Partial<Row>;
  /** Why changes are missing. */
  reason?: string;
}

/** Options of a stream of changes. */
export interface IChangesOptions<Row extends object, Filter extends object = object> extends IStreamOptions {
  /** Only rows for which the parameters of the select hold. */
  filter?: Filter | undefined;
  /** Begins with the rows that there are. */
  snapshot?: boolean | undefined;
  /** A row of the snapshot. */
  onRow?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  onInsert?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  onUpdate?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  /** Receives the key, or the whole row where the table has `changes old`. */
  onDelete?: ((old: Partial<Row>, change: IRowChange<Row>) => void) | undefined;
  onTruncate?: (() => void) | undefined;
  /** Changes may be missing: read again, unless the stream has a snapshot. */
  onGap?: ((reason: string) => void) | undefined;
  /** All rows follow again. */
  onReset?: (() => void) | undefined;
  /** The server refuses the stream, which has ended. */
  onError?: ((problem: IProblem) => void) | undefined;
}

/**
 * Changes of rows that the caller may select, through an `EventStream`: it connects again by itself, and continues after the last change.
 * Where it cannot, `onGap` tells that changes are missing; with `snapshot`, `onReset` and all rows follow.
 */
export class ChangeStream<Row extends object> {
  readonly events: EventStream;
  private readonly _keys: readonly string[];
  private readonly _options: IChangesOptions<Row>;
  private readonly _read: (row: Row) => Row;
  private readonly _rows = new Map<string, Row>();
  private _hasRows = false;
  /** Whether the list has changed since the last cut; true before the first one. */
  private _isDirty = true;
  /** Whether a list is ready that was not read. */
  private _isReady = false;
  private _error: GatewayError | null = null;
  private _wake: () => void = () => undefined;

  constructor(url: string, keys: readonly string[], options: IChangesOptions<Row>, read: (row: Row) => Row = (row) => row) {
    const { filter = {}, snapshot = false, headers, signal } = options;
    this._keys = keys;
    this._options = options;
    this._read = read;
    const query = _parseQuery(snapshot ? { ...filter, snapshot } : filter);
    this.events = new EventStream(url + query, { headers, signal });
    for (const type of ["row", "insert", "update", "delete", "truncate", "gap", "reset"]) {
      this.events.addEventListener(type, (event) => this._apply(JSON.parse((event as MessageEvent<string>).data)));
    }
    this.events.addEventListener("cut", () => this._settle());
    this.events.addEventListener("open", () => {
      // The rows of a snapshot without an id begin again.
      if (this.events.lastEventId === "" && this._hasRows) this._apply({ type: "reset" });
    });
    this.events.addEventListener("error", (event) => {
      const { problem, headers } = event as Event & { problem?: IProblem; headers?: Headers };
      if (problem !== undefined) {
        this._error = new GatewayError(problem, headers);
        options.onError?.(problem);
      }
      this._wake();
    });
    signal?.addEventListener("abort", () => this._wake(), { once: true });
  }

  close(): void {
    this.events.close();
    this._wake();
  }

  /** The rows after each change, from the first snapshot on. Needs `snapshot: true`. Throws a `GatewayError` when the server refuses the stream. */
  async *lists(): AsyncGenerator<readonly Row[], void, undefined> {
    if (this._options.snapshot !== true) throw new TypeError("lists() needs the option snapshot: true");
    try {
      for (;;) {
        if (this._error !== null) throw this._error;
        if (this._isReady) {
          this._isReady = false;
          yield [...this._rows.values()];
        } else if (this.events.readyState === 2) return;
        else await new Promise<void>((resolve) => (this._wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<readonly Row[], void, undefined> {
    return this.lists();
  }

  private _apply(change: IRowChange<Row>): void {
    const { onRow, onInsert, onUpdate, onDelete, onTruncate, onGap, onReset } = this._options;
    this._isDirty ||= change.type !== "gap";
    this._isReady &&= !this._isDirty;
    const record = change.record === undefined ? undefined : this._read(change.record);
    const old = change.old === undefined ? undefined : this._read(change.old as Row);
    const read = { ...change, ...(record === undefined ? {} : { record }), ...(old === undefined ? {} : { old }) };
    if (record !== undefined) {
      this._hasRows = true;
      if (this._options.snapshot === true) this._rows.set(this._key(record), record);
      (change.type === "row" ? onRow : change.type === "insert" ? onInsert : onUpdate)?.(record, read);
    } else if (change.type === "delete" && old !== undefined) {
      this._rows.delete(this._key(old));
      onDelete?.(old, read);
    } else if (change.type === "gap") onGap?.(change.reason ?? "");
    else {
      this._rows.clear();
      (change.type === "truncate" ? onTruncate : onReset)?.();
    }
  }

  /** All changes of a transaction have arrived, or all rows of a snapshot. */
  private _settle(): void {
    if (!this._isDirty) return;
    this._isDirty = false;
    this._isReady = true;
    this._wake();
  }

  private _key(row: object): string {
    const values = new Map<string, unknown>(Object.entries(row));
    return JSON.stringify(this._keys.map((key) => String(values.get(key))));
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

/**
 * api.me(_claims json)
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

/** The changes of the rows of `GET /api/expenses`, which the caller may select. */
export function expenseChanges<Row extends object>(options: IChangesOptions<Row, Partial<IExpenseGetRequest> & { select: string }>): ChangeStream<Row>;
export function expenseChanges(options?: IChangesOptions<IExpenseGetResponse, Omit<Partial<IExpenseGetRequest>, "select">>): ChangeStream<IExpenseGetResponse>;
export function expenseChanges(options: IChangesOptions<IExpenseGetResponse, Partial<IExpenseGetRequest>> = {}): ChangeStream<IExpenseGetResponse> {
  return new ChangeStream(_baseUrl + "/api/expenses/changes", ["id"], options);
}

/**
 * select app.expense
 *
 * For signed-in callers.
 *
 * @param request.id - integer, may be left out
 * @param request.company - text, may be left out
 * @param request.ownerId - integer, may be left out
 * @param request.owner - text, may be left out
 * @param request.description - text, may be left out
 * @param request.amount - numeric(10,2), may be left out
 * @param request.spentOn - date, may be left out
 * @param request.status - text, may be left out
 * @param request.decidedBy - integer, may be left out
 * @param request.receipt - text, may be left out
 * @param request.order - text, may be left out
 * @param request.limit - bigint, may be left out
 * @param request.offset - bigint, may be left out
 * @param request.after - text[], may be left out
 * @param request.select - text, may be left out
 * @param request.or - text, may be left out
 * @param request.and - text, may be left out
 * @returns {IExpenseGetResponse[]}
 * @remarks GET /api/expenses
 * @see TABLE app.expense
 */
export async function expenseGet<Row = Record<string, unknown>>(request: IExpenseGetRequest & { select: string } & { readonly [path: `${string}.${string}` | `${string}->${string}`]: string | number | readonly string[] }, options?: ICallOptions): Promise<Row[]>;
export async function expenseGet(request?: Omit<IExpenseGetRequest, "select">, options?: ICallOptions): Promise<IExpenseGetResponse[]>;
export async function expenseGet(
  request: IExpenseGetRequest = {},
  options: ICallOptions = {},
): Promise<IExpenseGetResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/expenses" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IExpenseGetResponse[];
}
