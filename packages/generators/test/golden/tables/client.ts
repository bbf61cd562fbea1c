import type {
  ICallOptions,
  IProblem,
  IFindCustomersRequest,
  ICustomersGetResponse,
  ICustomersGetRequest,
  ICustomersPostRequest,
  ICustomersReturningPostRequest,
  ICustomersDeleteRequest,
  ICustomersReturningDeleteRequest,
  ICustomersPutRequest,
  ICustomersReturningPutRequest,
  ICustomersOnConflictDoNothingPutRequest,
  ICustomersOnConflictDoNothingReturningPutRequest,
  ICustomersOnConflictDoUpdatePutRequest,
  ICustomersOnConflictDoUpdateReturningPutRequest,
  IGoldCustomersGetRequest,
  IGoldCustomersGetResponse,
  IGoldCustomersPostRequest,
  IGoldCustomersReturningPostRequest,
  IGoldCustomersDeleteRequest,
  IGoldCustomersReturningDeleteRequest,
  IGoldCustomersPutRequest,
  IGoldCustomersReturningPutRequest,
  IGoldCustomersOnConflictDoNothingPutRequest,
  IGoldCustomersOnConflictDoNothingReturningPutRequest,
  IGoldCustomersOnConflictDoUpdatePutRequest,
  IGoldCustomersOnConflictDoUpdateReturningPutRequest,
  IOrderLinesGetRequest,
  IOrderLinesGetResponse,
  IOrderLinesPostRequest,
  IOrderLinesReturningPostRequest,
  IOrderLinesDeleteRequest,
  IOrderLinesReturningDeleteRequest,
  IOrderLinesPutRequest,
  IOrderLinesReturningPutRequest,
  IOrderLinesOnConflictDoNothingPutRequest,
  IOrderLinesOnConflictDoNothingReturningPutRequest,
  IOrderLinesOnConflictDoUpdatePutRequest,
  IOrderLinesOnConflictDoUpdateReturningPutRequest,
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

function _text(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * public.find_customers(_name text)
 *
 * Answers rows of the table.
 *
 * @param request.name - text
 * @returns {ICustomersGetResponse[]}
 * @remarks GET /api/find-customers
 * @see FUNCTION public.find_customers
 */
export async function findCustomers(
  request: IFindCustomersRequest,
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/find-customers" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * select public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @param request.nameLength - integer, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks GET /api/customers
 * @see TABLE public.customers
 */
export async function customersGet(
  request: ICustomersGetRequest = {},
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/customers" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * update public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text, may be left out
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {void}
 * @remarks POST /api/customers
 * @see TABLE public.customers
 */
export async function customersPost(
  request: ICustomersPostRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/customers", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * update returning public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text, may be left out
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks POST /api/customers/returning
 * @see TABLE public.customers
 */
export async function customersReturningPost(
  request: ICustomersReturningPostRequest,
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/customers/returning", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * delete public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @param request.nameLength - integer, may be left out
 * @returns {void}
 * @remarks DELETE /api/customers
 * @see TABLE public.customers
 */
export async function customersDelete(
  request: ICustomersDeleteRequest = {},
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/customers" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}

/**
 * delete returning public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @param request.nameLength - integer, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks DELETE /api/customers/returning
 * @see TABLE public.customers
 */
export async function customersReturningDelete(
  request: ICustomersReturningDeleteRequest = {},
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/customers/returning" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * insert public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {void}
 * @remarks PUT /api/customers
 * @see TABLE public.customers
 */
export async function customersPut(
  request: ICustomersPutRequest | readonly ICustomersPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/customers", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert returning public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks PUT /api/customers/returning
 * @see TABLE public.customers
 */
export async function customersReturningPut(
  request: ICustomersReturningPutRequest | readonly ICustomersReturningPutRequest[],
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/customers/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * insert on conflict do nothing public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {void}
 * @remarks PUT /api/customers/on-conflict-do-nothing
 * @see TABLE public.customers
 */
export async function customersOnConflictDoNothingPut(
  request: ICustomersOnConflictDoNothingPutRequest | readonly ICustomersOnConflictDoNothingPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/customers/on-conflict-do-nothing", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do nothing returning public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks PUT /api/customers/on-conflict-do-nothing/returning
 * @see TABLE public.customers
 */
export async function customersOnConflictDoNothingReturningPut(
  request: ICustomersOnConflictDoNothingReturningPutRequest | readonly ICustomersOnConflictDoNothingReturningPutRequest[],
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/customers/on-conflict-do-nothing/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * insert on conflict do update public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {void}
 * @remarks PUT /api/customers/on-conflict-do-update
 * @see TABLE public.customers
 */
export async function customersOnConflictDoUpdatePut(
  request: ICustomersOnConflictDoUpdatePutRequest | readonly ICustomersOnConflictDoUpdatePutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/customers/on-conflict-do-update", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do update returning public.customers
 *
 * Who buys.
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @param request.tier - public.tier, may be left out
 * @param request.home - public.address, may be left out
 * @param request.tags - text[], may be left out
 * @param request.createdAt - timestamp with time zone, may be left out
 * @returns {ICustomersGetResponse[]}
 * @remarks PUT /api/customers/on-conflict-do-update/returning
 * @see TABLE public.customers
 */
export async function customersOnConflictDoUpdateReturningPut(
  request: ICustomersOnConflictDoUpdateReturningPutRequest | readonly ICustomersOnConflictDoUpdateReturningPutRequest[],
  options: ICallOptions = {},
): Promise<ICustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/customers/on-conflict-do-update/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as ICustomersGetResponse[];
}

/**
 * select public.gold_customers
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks GET /api/gold-customers
 * @see VIEW public.gold_customers
 */
export async function goldCustomersGet(
  request: IGoldCustomersGetRequest = {},
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/gold-customers" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * update public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text, may be left out
 * @returns {void}
 * @remarks POST /api/gold-customers
 * @see VIEW public.gold_customers
 */
export async function goldCustomersPost(
  request: IGoldCustomersPostRequest,
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/gold-customers", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * update returning public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text, may be left out
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks POST /api/gold-customers/returning
 * @see VIEW public.gold_customers
 */
export async function goldCustomersReturningPost(
  request: IGoldCustomersReturningPostRequest,
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/gold-customers/returning", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * delete public.gold_customers
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @returns {void}
 * @remarks DELETE /api/gold-customers
 * @see VIEW public.gold_customers
 */
export async function goldCustomersDelete(
  request: IGoldCustomersDeleteRequest = {},
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/gold-customers" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}

/**
 * delete returning public.gold_customers
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text, may be left out
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks DELETE /api/gold-customers/returning
 * @see VIEW public.gold_customers
 */
export async function goldCustomersReturningDelete(
  request: IGoldCustomersReturningDeleteRequest = {},
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/gold-customers/returning" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * insert public.gold_customers
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text
 * @returns {void}
 * @remarks PUT /api/gold-customers
 * @see VIEW public.gold_customers
 */
export async function goldCustomersPut(
  request: IGoldCustomersPutRequest | readonly IGoldCustomersPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/gold-customers", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert returning public.gold_customers
 *
 * @param request.customerId - bigint, may be left out
 * @param request.name - text
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks PUT /api/gold-customers/returning
 * @see VIEW public.gold_customers
 */
export async function goldCustomersReturningPut(
  request: IGoldCustomersReturningPutRequest | readonly IGoldCustomersReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/gold-customers/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * insert on conflict do nothing public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @returns {void}
 * @remarks PUT /api/gold-customers/on-conflict-do-nothing
 * @see VIEW public.gold_customers
 */
export async function goldCustomersOnConflictDoNothingPut(
  request: IGoldCustomersOnConflictDoNothingPutRequest | readonly IGoldCustomersOnConflictDoNothingPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/gold-customers/on-conflict-do-nothing", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do nothing returning public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks PUT /api/gold-customers/on-conflict-do-nothing/returning
 * @see VIEW public.gold_customers
 */
export async function goldCustomersOnConflictDoNothingReturningPut(
  request: IGoldCustomersOnConflictDoNothingReturningPutRequest | readonly IGoldCustomersOnConflictDoNothingReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/gold-customers/on-conflict-do-nothing/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * insert on conflict do update public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @returns {void}
 * @remarks PUT /api/gold-customers/on-conflict-do-update
 * @see VIEW public.gold_customers
 */
export async function goldCustomersOnConflictDoUpdatePut(
  request: IGoldCustomersOnConflictDoUpdatePutRequest | readonly IGoldCustomersOnConflictDoUpdatePutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/gold-customers/on-conflict-do-update", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do update returning public.gold_customers
 *
 * @param request.customerId - bigint
 * @param request.name - text
 * @returns {IGoldCustomersGetResponse[]}
 * @remarks PUT /api/gold-customers/on-conflict-do-update/returning
 * @see VIEW public.gold_customers
 */
export async function goldCustomersOnConflictDoUpdateReturningPut(
  request: IGoldCustomersOnConflictDoUpdateReturningPutRequest | readonly IGoldCustomersOnConflictDoUpdateReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IGoldCustomersGetResponse[]> {
  const response = await _send(_baseUrl + "/api/gold-customers/on-conflict-do-update/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IGoldCustomersGetResponse[];
}

/**
 * select public.order_lines
 *
 * @param request.orderId - integer, may be left out
 * @param request.line - integer, may be left out
 * @param request.article - text, may be left out
 * @param request.price - numeric, may be left out
 * @param request.order - text, may be left out
 * @param request.limit - bigint, may be left out
 * @param request.offset - bigint, may be left out
 * @param request.after - text[], may be left out
 * @param request.select - text, may be left out
 * @param request.or - text, may be left out
 * @param request.and - text, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks GET /api/order-lines
 * @see TABLE public.order_lines
 */
export async function orderLinesGet<Row = Record<string, unknown>>(request: IOrderLinesGetRequest & { select: string } & { readonly [path: `${string}.${string}` | `${string}->${string}`]: string | number | readonly string[] }, options?: ICallOptions): Promise<Row[]>;
export async function orderLinesGet(request?: Omit<IOrderLinesGetRequest, "select">, options?: ICallOptions): Promise<IOrderLinesGetResponse[]>;
export async function orderLinesGet(
  request: IOrderLinesGetRequest = {},
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(..._long(_baseUrl + "/api/order-lines" + _parseQuery(request), {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  return (await response.json()) as IOrderLinesGetResponse[];
}

/**
 * update public.order_lines
 *
 * @param request.orderId - integer, may be left out
 * @param request.line - integer, may be left out
 * @param request.article - text, may be left out
 * @param request.price - numeric, may be left out
 * @returns {void}
 * @remarks POST /api/order-lines
 * @see TABLE public.order_lines
 */
export async function orderLinesPost(
  request: IOrderLinesPostRequest = {},
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/order-lines", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * update returning public.order_lines
 *
 * @param request.orderId - integer, may be left out
 * @param request.line - integer, may be left out
 * @param request.article - text, may be left out
 * @param request.price - numeric, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks POST /api/order-lines/returning
 * @see TABLE public.order_lines
 */
export async function orderLinesReturningPost(
  request: IOrderLinesReturningPostRequest = {},
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(_baseUrl + "/api/order-lines/returning", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IOrderLinesGetResponse[];
}

/**
 * delete public.order_lines
 *
 * @param request.orderId - integer, may be left out
 * @param request.line - integer, may be left out
 * @param request.article - text, may be left out
 * @param request.price - numeric, may be left out
 * @returns {void}
 * @remarks DELETE /api/order-lines
 * @see TABLE public.order_lines
 */
export async function orderLinesDelete(
  request: IOrderLinesDeleteRequest = {},
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/order-lines" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
}

/**
 * delete returning public.order_lines
 *
 * @param request.orderId - integer, may be left out
 * @param request.line - integer, may be left out
 * @param request.article - text, may be left out
 * @param request.price - numeric, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks DELETE /api/order-lines/returning
 * @see TABLE public.order_lines
 */
export async function orderLinesReturningDelete(
  request: IOrderLinesReturningDeleteRequest = {},
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(_baseUrl + "/api/order-lines/returning" + _parseQuery(request), {
    method: "DELETE",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IOrderLinesGetResponse[];
}

/**
 * insert public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {void}
 * @remarks PUT /api/order-lines
 * @see TABLE public.order_lines
 */
export async function orderLinesPut(
  request: IOrderLinesPutRequest | readonly IOrderLinesPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/order-lines", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert returning public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks PUT /api/order-lines/returning
 * @see TABLE public.order_lines
 */
export async function orderLinesReturningPut(
  request: IOrderLinesReturningPutRequest | readonly IOrderLinesReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(_baseUrl + "/api/order-lines/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IOrderLinesGetResponse[];
}

/**
 * insert on conflict do nothing public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {void}
 * @remarks PUT /api/order-lines/on-conflict-do-nothing
 * @see TABLE public.order_lines
 */
export async function orderLinesOnConflictDoNothingPut(
  request: IOrderLinesOnConflictDoNothingPutRequest | readonly IOrderLinesOnConflictDoNothingPutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/order-lines/on-conflict-do-nothing", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do nothing returning public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks PUT /api/order-lines/on-conflict-do-nothing/returning
 * @see TABLE public.order_lines
 */
export async function orderLinesOnConflictDoNothingReturningPut(
  request: IOrderLinesOnConflictDoNothingReturningPutRequest | readonly IOrderLinesOnConflictDoNothingReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(_baseUrl + "/api/order-lines/on-conflict-do-nothing/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IOrderLinesGetResponse[];
}

/**
 * insert on conflict do update public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {void}
 * @remarks PUT /api/order-lines/on-conflict-do-update
 * @see TABLE public.order_lines
 */
export async function orderLinesOnConflictDoUpdatePut(
  request: IOrderLinesOnConflictDoUpdatePutRequest | readonly IOrderLinesOnConflictDoUpdatePutRequest[],
  options: ICallOptions = {},
): Promise<void> {
  await _send(_baseUrl + "/api/order-lines/on-conflict-do-update", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
}

/**
 * insert on conflict do update returning public.order_lines
 *
 * @param request.orderId - integer
 * @param request.line - integer
 * @param request.article - text
 * @param request.price - numeric, may be left out
 * @returns {IOrderLinesGetResponse[]}
 * @remarks PUT /api/order-lines/on-conflict-do-update/returning
 * @see TABLE public.order_lines
 */
export async function orderLinesOnConflictDoUpdateReturningPut(
  request: IOrderLinesOnConflictDoUpdateReturningPutRequest | readonly IOrderLinesOnConflictDoUpdateReturningPutRequest[],
  options: ICallOptions = {},
): Promise<IOrderLinesGetResponse[]> {
  const response = await _send(_baseUrl + "/api/order-lines/on-conflict-do-update/returning", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...options.headers },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  }, options);
  return (await response.json()) as IOrderLinesGetResponse[];
}
