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
  [member: string]: unknown;
}

export interface IFindCustomersRequest {
  name: string;
}

export interface ICustomersGetResponse {
  customerId: number;
  name: string;
  tier: "bronze" | "gold";
  home: { street: string | null; city: string | null } | null;
  tags: (string | null)[];
  createdAt: string;
  nameLength: number | null;
}

export interface ICustomersGetRequest {
  customerId?: number | null;
  name?: string;
  tier?: "bronze" | "gold" | null;
  home?: string | null;
  tags?: string[];
  createdAt?: Date | null;
  nameLength?: number | null;
}

export interface ICustomersPostRequest {
  customerId: number;
  name?: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersReturningPostRequest {
  customerId: number;
  name?: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersDeleteRequest {
  customerId?: number | null;
  name?: string;
  tier?: "bronze" | "gold" | null;
  home?: string | null;
  tags?: string[];
  createdAt?: Date | null;
  nameLength?: number | null;
}

export interface ICustomersReturningDeleteRequest {
  customerId?: number | null;
  name?: string;
  tier?: "bronze" | "gold" | null;
  home?: string | null;
  tags?: string[];
  createdAt?: Date | null;
  nameLength?: number | null;
}

export interface ICustomersPutRequest {
  customerId?: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersReturningPutRequest {
  customerId?: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersOnConflictDoNothingPutRequest {
  customerId: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersOnConflictDoNothingReturningPutRequest {
  customerId: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersOnConflictDoUpdatePutRequest {
  customerId: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface ICustomersOnConflictDoUpdateReturningPutRequest {
  customerId: number;
  name: string;
  tier?: "bronze" | "gold";
  home?: { street?: string | null; city?: string | null } | null;
  tags?: (string | null)[];
  createdAt?: Date;
}

export interface IGoldCustomersGetRequest {
  customerId?: number | null;
  name?: string;
}

export interface IGoldCustomersGetResponse {
  customerId: number;
  name: string;
}

export interface IGoldCustomersPostRequest {
  customerId: number;
  name?: string;
}

export interface IGoldCustomersReturningPostRequest {
  customerId: number;
  name?: string;
}

export interface IGoldCustomersDeleteRequest {
  customerId?: number | null;
  name?: string;
}

export interface IGoldCustomersReturningDeleteRequest {
  customerId?: number | null;
  name?: string;
}

export interface IGoldCustomersPutRequest {
  customerId?: number;
  name: string;
}

export interface IGoldCustomersReturningPutRequest {
  customerId?: number;
  name: string;
}

export interface IGoldCustomersOnConflictDoNothingPutRequest {
  customerId: number;
  name: string;
}

export interface IGoldCustomersOnConflictDoNothingReturningPutRequest {
  customerId: number;
  name: string;
}

export interface IGoldCustomersOnConflictDoUpdatePutRequest {
  customerId: number;
  name: string;
}

export interface IGoldCustomersOnConflictDoUpdateReturningPutRequest {
  customerId: number;
  name: string;
}

export interface IOrderLinesGetRequest {
  orderId?: number | null | string | (number | null | string)[];
  line?: number | null | string | (number | null | string)[];
  article?: string | string[];
  price?: number | null | string | (number | null | string)[];
  order?: string;
  limit?: number | null;
  offset?: number | null;
  after?: string[];
  select?: string;
  or?: string | string[];
  and?: string | string[];
}

export interface IOrderLinesGetResponse {
  orderId: number;
  line: number;
  article: string;
  price: number | null;
}

export interface IOrderLinesPostRequest {
  orderId?: number;
  line?: number;
  article?: string;
  price?: number | null;
}

export interface IOrderLinesReturningPostRequest {
  orderId?: number;
  line?: number;
  article?: string;
  price?: number | null;
}

export interface IOrderLinesDeleteRequest {
  orderId?: number | null;
  line?: number | null;
  article?: string;
  price?: number | null;
}

export interface IOrderLinesReturningDeleteRequest {
  orderId?: number | null;
  line?: number | null;
  article?: string;
  price?: number | null;
}

export interface IOrderLinesPutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}

export interface IOrderLinesReturningPutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}

export interface IOrderLinesOnConflictDoNothingPutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}

export interface IOrderLinesOnConflictDoNothingReturningPutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}

export interface IOrderLinesOnConflictDoUpdatePutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}

export interface IOrderLinesOnConflictDoUpdateReturningPutRequest {
  orderId: number;
  line: number;
  article: string;
  price?: number | null;
}
