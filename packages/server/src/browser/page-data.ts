/** The data of the start page, which the server derives from the endpoints. */

export interface PageData {
  readonly title: string;
  readonly links: readonly PageLink[];
  readonly authentication: PageAuthentication;
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
  readonly tags: readonly string[];
  /** One for each overload. */
  readonly signatures: readonly string[];
  /** The first line of the description; for a table without one, the operation. */
  readonly summary: string;
  readonly description: string;
  readonly access: PageAccess;
  readonly loginOrLogout: 'login' | 'logout' | null;
  readonly parameters: readonly PageParameter[];
  readonly body: PageBody | null;
  /** Whether the query string can be the body of a request with the method QUERY. */
  readonly takesQuery: boolean;
  /** A short form of the response body; empty for none. */
  readonly returns: string;
  /** The media type of its rows as a workbook of Excel; null: it has none. */
  readonly workbookType: string | null;
  /** The path of the event stream; null: none. */
  readonly eventsPath: string | null;
  /** The path of the stream of row changes, with its current rows; null without one. */
  readonly changesPath: string | null;
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
