import type {
  ICallOptions,
  IProblem,
  IEventOptions,
  IUploadOptions,
  IUploadProgress,
  IAddBookRequest,
  IAddBookResponse,
  IBranchesBranchIdStatisticsRequest,
  IBranchesBranchIdStatisticsResponse,
  IReservationsIdRequest,
  ICountCopiesRequest,
  IExportOverdueRequest,
  IGetAuthorsRequest,
  IBooksIdRequest,
  IBooksIdResponse,
  IBooksIdCardRequest,
  IBooksIdCoverFormatRequest,
  IGetLastReturnRequest,
  IGetMembershipRequest,
  IBranchesBranchIdOpeningHoursGetRequest,
  IGetOverdueRequest,
  IGetOverdueResponse,
  IMembersMemberIdStatementRequest,
  IImportBooksResponse,
  IIsAvailableRequest,
  IMembersRequest,
  IMembersResponse,
  ILateFeeRequest,
  ILendCopyRequest,
  ILendCopyResponse,
  IMembersMemberIdPaymentsRequest,
  IReadingListRequest,
  IReadingListResponse,
  IReindexShelvesRequest,
  IReserveBookRequest,
  IReserveBookResponse,
  IReturnCopyRequest,
  IBooksRequest,
  IBooksResponse,
  IBooksIdCoverRequest,
  IBranchesBranchIdOpeningHoursPutRequest,
  IShelfListRequest,
  ISuggestTitlesRequest,
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
 * public.add_book(_isbn public.isbn, _title text, _genre public.genre, _published integer, _authors text[])
 *
 * A known ISBN breaks a unique constraint and is answered with 409.
 *
 * @param request.isbn - public.isbn
 * @param request.title - text
 * @param request.genre - public.genre
 * @param request.published - integer
 * @param request.authors - text[], may be left out
 * @returns {IAddBookResponse | null}
 * @remarks POST /api/add-book
 * @see FUNCTION public.add_book
 */
export async function addBook(
  request: IAddBookRequest,
  options: ICallOptions = {},
): Promise<IAddBookResponse | null> {
  const response = await _send(_baseUrl + "/api/add-book", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : (await response.json()) as IAddBookResponse;
}

/**
 * public.branch_statistics(_branch_id integer)
 *
 * @param request.branchId - integer
 * @returns {IBranchesBranchIdStatisticsResponse}
 * @remarks GET /api/branches/{branchId}/statistics
 * @see FUNCTION public.branch_statistics
 */
export async function branchesBranchIdStatistics(
  request: IBranchesBranchIdStatisticsRequest,
  options: ICallOptions = {},
): Promise<IBranchesBranchIdStatisticsResponse> {
  const response = await _send(_baseUrl + "/api/branches/" + _segment(request.branchId) + "/statistics", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IBranchesBranchIdStatisticsResponse;
}

/**
 * public.cancel_reservation(_id integer)
 *
 * @param request.id - integer
 * @returns {void}
 * @remarks DELETE /api/reservations/{id}
 * @see FUNCTION public.cancel_reservation
 */
export async function reservationsId(
  request: IReservationsIdRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/reservations/" + _segment(request.id), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}

/**
 * public.count_copies(_book_id integer, _condition public.copy_condition)
 *
 * @param request.bookId - integer
 * @param request.condition - public.copy_condition, may be left out
 * @returns {number | null}
 * @remarks GET /api/count-copies
 * @see FUNCTION public.count_copies
 */
export async function countCopies(
  request: ICountCopiesRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(..._long(_baseUrl + "/api/count-copies" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * public.export_overdue(_branch_id integer, _on date)
 *
 * The same list for a spreadsheet; the file is named after the parameter.
 *
 * @param request.branchId - integer
 * @param request.on - date, may be left out
 * @returns {string}
 * @remarks GET /api/export-overdue
 * @see FUNCTION public.export_overdue
 */
export async function exportOverdue(
  request: IExportOverdueRequest,
  options: ICallOptions = {},
): Promise<string> {
  const response = await _send(..._long(_baseUrl + "/api/export-overdue" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return await response.text();
}

/**
 * public.get_authors(_isbn public.isbn)
 *
 * @param request.isbn - public.isbn
 * @returns {(string | null)[] | null}
 * @remarks GET /api/get-authors
 * @see FUNCTION public.get_authors
 */
export async function getAuthors(
  request: IGetAuthorsRequest,
  options: ICallOptions = {},
): Promise<(string | null)[] | null> {
  const response = await _send(..._long(_baseUrl + "/api/get-authors" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as (string | null)[] | null;
}

/**
 * public.get_book(_id integer)
 *
 * @param request.id - integer
 * @returns {IBooksIdResponse | null}
 * @remarks GET /api/books/{id}
 * @see FUNCTION public.get_book
 */
export async function booksId(
  request: IBooksIdRequest,
  options: ICallOptions = {},
): Promise<IBooksIdResponse | null> {
  const response = await _send(_baseUrl + "/api/books/" + _segment(request.id), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : (await response.json()) as IBooksIdResponse;
}

/**
 * public.get_book_card(_id integer)
 *
 * The value in the path is the parameter of that name.
 *
 * @param request.id - integer
 * @returns {string | null}
 * @remarks GET /api/books/{id}/card
 * @see FUNCTION public.get_book_card
 */
export async function booksIdCard(
  request: IBooksIdCardRequest,
  options: ICallOptions = {},
): Promise<string | null> {
  const response = await _send(_baseUrl + "/api/books/" + _segment(request.id) + "/card", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as string | null;
}

/**
 * public.get_cover(_id integer, _format text)
 *
 * @param request.id - integer
 * @param request.format - text
 * @returns {Blob | null}
 * @remarks GET /api/books/{id}/cover/{format}
 * @see FUNCTION public.get_cover
 */
export async function booksIdCoverFormat(
  request: IBooksIdCoverFormatRequest,
  options: ICallOptions = {},
): Promise<Blob | null> {
  const response = await _send(_baseUrl + "/api/books/" + _segment(request.id) + "/cover/" + _segment(request.format), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : await response.blob();
}

/**
 * public.get_last_return(_member_id integer)
 *
 * Empty for a member who never brought a book back.
 *
 * @param request.memberId - integer
 * @returns {string | null}
 * @remarks GET /api/get-last-return
 * @see FUNCTION public.get_last_return
 */
export async function getLastReturn(
  request: IGetLastReturnRequest,
  options: ICallOptions = {},
): Promise<string | null> {
  const response = await _send(..._long(_baseUrl + "/api/get-last-return" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text;
}

/**
 * public.get_membership(_member_id integer)
 *
 * @param request.memberId - integer
 * @returns {"child" | "adult" | "staff" | null}
 * @remarks GET /api/get-membership
 * @see FUNCTION public.get_membership
 */
export async function getMembership(
  request: IGetMembershipRequest,
  options: ICallOptions = {},
): Promise<"child" | "adult" | "staff" | null> {
  const response = await _send(..._long(_baseUrl + "/api/get-membership" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text as "child" | "adult" | "staff" | null;
}

/**
 * public.get_opening_hours(_branch_id integer)
 *
 * @param request.branchId - integer
 * @returns {string}
 * @remarks GET /api/branches/{branchId}/opening-hours
 * @see FUNCTION public.get_opening_hours
 */
export async function branchesBranchIdOpeningHoursGet(
  request: IBranchesBranchIdOpeningHoursGetRequest,
  options: ICallOptions = {},
): Promise<string> {
  const response = await _send(_baseUrl + "/api/branches/" + _segment(request.branchId) + "/opening-hours", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return await response.text();
}

/**
 * public.get_overdue(_on date, _branch_id integer)
 *
 * @param request.on - date, may be left out
 * @param request.branchId - integer, may be left out
 * @returns {IGetOverdueResponse[]}
 * @remarks GET /api/get-overdue
 * @see FUNCTION public.get_overdue
 */
export async function getOverdue(
  request: IGetOverdueRequest = {},
  options: ICallOptions = {},
): Promise<IGetOverdueResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/get-overdue" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IGetOverdueResponse[];
}

/**
 * public.get_statement(_member_id integer)
 *
 * @param request.memberId - integer
 * @returns {string | null}
 * @remarks GET /api/members/{memberId}/statement
 * @see FUNCTION public.get_statement
 */
export async function membersMemberIdStatement(
  request: IMembersMemberIdStatementRequest,
  options: ICallOptions = {},
): Promise<string | null> {
  const response = await _send(_baseUrl + "/api/members/" + _segment(request.memberId) + "/statement", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as string | null;
}

/**
 * public.import_books(_files json)
 *
 * Adds the books of a CSV file, and tells for each line which problem kept its book out.
 * The row command runs for every line in the transaction of the call, which other calls do not see.
 *
 * @returns {IImportBooksResponse[]}
 * @remarks POST /api/import-books
 * @see FUNCTION public.import_books
 */
export async function importBooks(
  files: Blob | readonly Blob[],
  options: IUploadOptions = {},
): Promise<IImportBooksResponse[]> {
  const response = await _sendFiles(_baseUrl + "/api/import-books", {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, files, options.onProgress);
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  return (await response.json()) as IImportBooksResponse[];
}

/**
 * public.is_available(_book_id integer)
 *
 * Tells whether a copy is on the shelf.
 * The lines below would suit any routine. They go by its tags, and volatility is one.
 *
 * @param request.bookId - integer
 * @returns {boolean | null}
 * @remarks GET /api/is-available
 * @see FUNCTION public.is_available
 */
export async function isAvailable(
  request: IIsAvailableRequest,
  options: ICallOptions = {},
): Promise<boolean | null> {
  const response = await _send(..._long(_baseUrl + "/api/is-available" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : text === "true";
}

/**
 * public.join_library(_name text, _email public.email, _membership public.membership, _address public.address)
 *
 * @param request.name - text
 * @param request.email - public.email
 * @param request.membership - public.membership, may be left out
 * @param request.address - public.address, may be left out
 * @returns {IMembersResponse | null}
 * @remarks POST /api/members
 * @see FUNCTION public.join_library
 */
export async function members(
  request: IMembersRequest,
  options: ICallOptions = {},
): Promise<IMembersResponse | null> {
  const response = await _send(_baseUrl + "/api/members", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : (await response.json()) as IMembersResponse;
}

/**
 * public.late_fee(_due_on date, _on date)
 *
 * Twenty cents a day, ten euros at most.
 *
 * @param request.dueOn - date
 * @param request.on - date, may be left out
 * @returns {number | null}
 * @remarks GET /api/late-fee
 * @see FUNCTION public.late_fee
 */
export async function lateFee(
  request: ILateFeeRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(..._long(_baseUrl + "/api/late-fee" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * public.lend_copy(_copy_id integer, _member_id integer, _days integer)
 *
 * An exception that the routine raises is answered with 400 and its message.
 * A unique index refuses a copy that is lent already, with 409, even when two desks try at once.
 *
 * @param request.copyId - integer
 * @param request.memberId - integer
 * @param request.days - integer, may be left out
 * @returns {ILendCopyResponse | null}
 * @remarks POST /api/lend-copy
 * @see FUNCTION public.lend_copy
 */
export async function lendCopy(
  request: ILendCopyRequest,
  options: ICallOptions = {},
): Promise<ILendCopyResponse | null> {
  const response = await _send(_baseUrl + "/api/lend-copy", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return response.status === 204 ? null : (await response.json()) as ILendCopyResponse;
}

/**
 * public.pay_fines(_member_id integer)
 *
 * @param request.memberId - integer
 * @returns {number | null}
 * @remarks POST /api/members/{memberId}/payments
 * @see FUNCTION public.pay_fines
 */
export async function membersMemberIdPayments(
  request: IMembersMemberIdPaymentsRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(_baseUrl + "/api/members/" + _segment(request.memberId) + "/payments", {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * public.reading_list(VARIADIC _book_ids integer[])
 *
 * The given books in the given order; repeat the key in the query.
 *
 * @param request.bookIds - integer[]
 * @returns {IReadingListResponse[]}
 * @remarks GET /api/reading-list
 * @see FUNCTION public.reading_list
 */
export async function readingList(
  request: IReadingListRequest,
  options: ICallOptions = {},
): Promise<IReadingListResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/reading-list" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IReadingListResponse[];
}

export const reindexShelvesEvents = (executionId: string = "", options: IStreamOptions = {}): EventStream => new EventStream(_baseUrl + "/api/reindex-shelves/info" + (executionId === "" ? "" : `?${executionId}`), options);

/**
 * public.reindex_shelves(_branch_id integer)
 *
 * Sorts every shelf by title and raises a notice for each one as it goes.
 *
 * @param request.branchId - integer
 * @returns {void}
 * @remarks POST /api/reindex-shelves
 * @see PROCEDURE public.reindex_shelves
 */
export async function reindexShelves(
  request: IReindexShelvesRequest,
  options: IEventOptions = {},
): Promise<void> {
  const events = await _follow(_baseUrl + "/api/reindex-shelves/info", options);
  try {
    await _send(_baseUrl + "/api/reindex-shelves", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...events.headers, ...options.headers },
      body: JSON.stringify(request),
      signal: options.signal ?? null,
    }, options);
  } finally {
    events.end();
  }
}

/**
 * public.reserve_book(_book_id integer, _member_id integer, _place integer)
 *
 * Gives the place in the queue. A value sent as place is ignored.
 *
 * @param request.bookId - integer
 * @param request.memberId - integer
 * @param request.place - integer, may be left out
 * @returns {IReserveBookResponse}
 * @remarks POST /api/reserve-book
 * @see PROCEDURE public.reserve_book
 */
export async function reserveBook(
  request: IReserveBookRequest,
  options: ICallOptions = {},
): Promise<IReserveBookResponse> {
  const response = await _send(_baseUrl + "/api/reserve-book", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IReserveBookResponse;
}

/**
 * public.return_copy(_copy_id integer)
 *
 * Gives the fee to pay. The scanner at the desk can only append to a URL.
 *
 * @param request.copyId - integer
 * @returns {number | null}
 * @remarks POST /api/return-copy
 * @see FUNCTION public.return_copy
 */
export async function returnCopy(
  request: IReturnCopyRequest,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(_baseUrl + "/api/return-copy" + _parseQuery(request), {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}

/**
 * public.search_catalogue(_text text, _genres public.genre[], _limit integer)
 *
 * Books with a text in the title, of any of some genres.
 *
 * @param request.text - text, may be left out
 * @param request.genres - public.genre[], may be left out
 * @param request.limit - integer, may be left out
 * @returns {IBooksResponse[]}
 * @remarks GET /api/books
 * @see FUNCTION public.search_catalogue
 */
export async function books(
  request: IBooksRequest = {},
  options: ICallOptions = {},
): Promise<IBooksResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/books" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IBooksResponse[];
}

/**
 * public.set_cover(_id integer, _files json)
 *
 * Takes the image of a form as a large object, and gives the URL of the new cover.
 * An exception that the routine raises rolls the upload back, too: the large object is gone.
 *
 * @param request.id - integer
 * @returns {string}
 * @remarks POST /api/books/{id}/cover
 * @see FUNCTION public.set_cover
 */
export async function booksIdCover(
  files: Blob | readonly Blob[],
  request: IBooksIdCoverRequest,
  options: IUploadOptions = {},
): Promise<string> {
  const response = await _sendFiles(_baseUrl + "/api/books/" + _segment(request.id) + "/cover", {
    method: "POST",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, files, options.onProgress);
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  return await response.text();
}

/**
 * public.set_opening_hours(_branch_id integer, _hours jsonb)
 *
 * Replaces the whole week.
 * The next lines say the same as a method and a path after HTTP.
 *
 * @param request.branchId - integer
 * @param request.hours - jsonb
 * @returns {void}
 * @remarks PUT /api/branches/{branchId}/opening-hours
 * @see FUNCTION public.set_opening_hours
 */
export async function branchesBranchIdOpeningHoursPut(
  request: IBranchesBranchIdOpeningHoursPutRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/branches/" + _segment(request.branchId) + "/opening-hours", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(_without(request, ["branchId"])),
    signal: options.signal ?? null,
  }, options);
}

/**
 * public.shelf_list(_branch_id integer)
 *
 * @param request.branchId - integer
 * @returns {(string | null)[][]}
 * @remarks GET /api/shelf-list
 * @see FUNCTION public.shelf_list
 */
export async function shelfList(
  request: IShelfListRequest,
  options: ICallOptions = {},
): Promise<(string | null)[][]> {
  const response = await _send(..._long(_baseUrl + "/api/shelf-list" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as (string | null)[][];
}

/**
 * public.suggest_titles(_prefix text)
 *
 * @param request.prefix - text
 * @returns {(string | null)[]}
 * @remarks GET /api/suggest-titles
 * @see FUNCTION public.suggest_titles
 */
export async function suggestTitles(
  request: ISuggestTitlesRequest,
  options: ICallOptions = {},
): Promise<(string | null)[]> {
  const response = await _send(..._long(_baseUrl + "/api/suggest-titles" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as (string | null)[];
}
