/** The data of the start page and the API docs page, which the server derives from the endpoints. */

export interface PageData {
  readonly kind: 'start' | 'docs';
  readonly title: string;
  /** The version of the API. */
  readonly version: string;
  readonly description: string;
  /** The path of the OpenAPI document; null: not served. */
  readonly documentPath: string | null;
  readonly links: readonly PageLink[];
  readonly authentication: PageAuthentication;
  /** The members of a problem, the body of errors. */
  readonly problem: Pick<PageSchema, 'type' | 'example'>;
  /** The rows of tables, and the bodies that operations share; empty on the start page. */
  readonly schemas: readonly PageSchema[];
  /** By schema, group and path. */
  readonly operations: readonly PageOperation[];
}

/** A page or document of the same server. */
export interface PageLink {
  readonly label: string;
  readonly path: string;
}

export interface PageAuthentication {
  readonly cookie: boolean;
  /** Whether a scheme reads `Authorization: Bearer`. */
  readonly bearer: boolean;
  /** The path of the antiforgery token; null: none. */
  readonly antiforgeryPath: string | null;
  /** The sign-in page of the application, which returns to this page; null: none. */
  readonly signInUrl: string | null;
  /** The path that ends a session of the sign-in page; null: none. */
  readonly signOutPath: string | null;
}

/** A method and path: an endpoint, or overloads. */
export interface PageOperation {
  /** Unique among all operations. */
  readonly id: string;
  readonly method: string;
  /** `{name}` segments are path parameters. */
  readonly path: string;
  readonly schema: string;
  /** The table or view; for routines the first tag. */
  readonly group: string;
  readonly isTable: boolean;
  /** Whether it is a variant of writing to a table: with the written rows, or on conflict. */
  readonly isVariant: boolean;
  readonly tags: readonly string[];
  /** One for each overload. */
  readonly signatures: readonly string[];
  /** The first line of the description; what an operation of a table does. */
  readonly summary: string;
  readonly description: string;
  readonly access: PageAccess;
  readonly loginOrLogout: 'login' | 'logout' | null;
  readonly parameters: readonly PageParameter[];
  readonly body: PageBody | null;
  /** Whether the query string can be the body of a request with the method QUERY. */
  readonly takesQuery: boolean;
  /** The conditions, columns and related rows that a request can select; null: it is not a listing. */
  readonly listing: PageListing | null;
  /** By status. */
  readonly responses: readonly PageResponse[];
  /** The call with the generated client; null: the client leaves the endpoint out. */
  readonly client: PageClientCall | null;
  /** The media type of its rows as a workbook of Excel; null: it has none. */
  readonly workbookType: string | null;
  /** The path of the event stream; null: none. */
  readonly eventsPath: string | null;
  /** The path of the stream of row changes, with its current rows; null without one. */
  readonly changesPath: string | null;
}

/** The names are those of parameters in the query string. */
export interface PageListing {
  readonly conditions: readonly PageCondition[];
  /** The columns of a row. */
  readonly columns: readonly string[];
  readonly related: readonly { readonly name: string; readonly columns: readonly string[] }[];
  readonly select: string;
  readonly order: string;
  /** Those that select a page. */
  readonly page: readonly string[];
}

/** The conditions of a column. */
export interface PageCondition {
  readonly name: string;
  /** The type for readers. */
  readonly type: string;
  /** `eq`, or with its value `is.null`. */
  readonly operators: readonly string[];
}

export interface PageResponse {
  /** `200`, or `4XX` or `default` for several. */
  readonly status: string;
  readonly description: string;
  /** Whether the body is a problem. */
  readonly problem: boolean;
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  /** The bodies beside problems. */
  readonly content: readonly PageContent[];
}

export interface PageContent {
  readonly mediaType: string;
  /** For readers. */
  readonly type: string;
  /** Null for other media types than JSON. */
  readonly example: string | null;
}

/** A schema that several operations share. */
export interface PageSchema {
  readonly name: string;
  readonly type: string;
  readonly example: string;
}

export interface PageClientCall {
  /** The function. */
  readonly name: string;
  /** As in an import. */
  readonly module: string;
  readonly takesRequest: boolean;
  readonly hasResult: boolean;
}

export interface PageAccess {
  readonly required: boolean;
  /** The caller needs one of these; empty: any role. */
  readonly roles: readonly string[];
  /** Whether the endpoint has its own HTTP Basic authentication. */
  readonly basic: boolean;
}

export interface PageParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  /** The type for readers. */
  readonly type: string;
  readonly required: boolean;
  /** The default in SQL; null: none, or not shown. */
  readonly default: string | null;
  /** Whether the form hides the value. */
  readonly secret: boolean;
  readonly description: string;
  readonly schema: ValueSchema;
}

export interface PageBody {
  /** - `object`: JSON with a member per parameter in the body. - `text`: the body is one value. - `files`: a form. */
  readonly kind: 'object' | 'text' | 'files';
  readonly mediaType: string;
  readonly required: boolean;
  /** The media types that a file may have, as the attribute `accept`; empty: any. */
  readonly accept: string;
}

/** The parts of a JSON Schema that inputs use. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: ValueSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}
