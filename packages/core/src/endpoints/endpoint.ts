import type { TableName } from '../catalog/table-name.ts';
import type { EndpointChanges } from './row-changes.ts';
import type { InjectedValue, ValueQuery } from './injected-value.ts';
import type { DocumentFormat, TableFormat } from './row-formats.ts';
import type { SessionEffects } from '../catalog/routine.ts';
import type { PageLimits, RelationKind, TableColumn, TableOperation } from '../catalog/table.ts';
import type { NamedType } from './named-type.ts';
import type { ValidationRule } from './validation/rules.ts';

export type { InjectedValue, SessionEffects, ValueQuery };

export const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'CONNECT'] as const;
export type Method = (typeof methods)[number];

/** The part of the request that parameters come from. */
export type ParameterSource = 'query' | 'body';

export interface EndpointParameter {
  /** The name in the database; `$1` by position for an unnamed parameter. */
  readonly name: string;
  /** The converted name, which clients normally use. */
  readonly key: string;
  /** From 1, among the routine's input parameters. */
  readonly position: number;
  readonly type: NamedType;
  readonly optional: boolean;
  /** The default in SQL, for display; absent without a default, or when the source does not know it. */
  readonly defaultExpression?: string;
  readonly variadic: boolean;
  /** Whether the parameter has no name in the database and is passed by position. */
  readonly unnamed: boolean;
  /** Whether the value comes from the path only. */
  readonly inPath: boolean;
  /** Whether the key may be repeated in the query string. The query builder receives all values as a JSON array of strings and nulls. */
  readonly repeatable?: true;
  /** The property of the caller that the gateway passes. Clients cannot set the parameter. */
  readonly injectedValue?: InjectedValue;
  /** The query of `injectedValue: 'query'`, which is a subquery of the call. */
  readonly query?: ValueQuery;
  /** The position of the parameter whose hash the gateway passes, in place of a value from the client. */
  readonly hashOf?: number;
  /** Conditions on the values that clients send. */
  readonly rules?: readonly ValidationRule[];
  /** The fields of a composite parameter, which clients may also set one by one; null for other types. */
  readonly fields: readonly ParameterField[] | null;
}

/** A field of a composite parameter that clients can set with a separate key. */
export interface ParameterField {
  /** `<parameter>_<field>`. */
  readonly name: string;
  /** The converted name. */
  readonly key: string;
  readonly type: NamedType;
}

export interface ResultColumn {
  readonly name: string;
  /** The composite column that the field belongs to, with `compositeColumns: 'flat'`. Absent for other columns. */
  readonly parentColumn?: string;
  /** The key in JSON objects. */
  readonly key: string;
  readonly type: NamedType;
  /** Whether its values are certainly not NULL. Absent: they may be. */
  readonly notNull?: boolean;
}

/**
 * The shape of a response body.
 * - `nothing`: no body, status 204
 * - `value`: one value, as text, JSON or bytes (`media`)
 * - `object`: one row as an object; 204 for no row, and for a NULL when `nullable`
 * - `objects`: an array with an object per row
 * - `values`: an array with a value per row
 * - `record`, `records`: an array of texts per row, for columns that are unknown before the call
 *
 * `rowType` is the quoted and qualified composite or table type of the rows; absent for others.
 */
export type ResultShape =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly column: ResultColumn; readonly media: 'text' | 'json' | 'bytes' }
  | {
      readonly kind: 'object';
      readonly columns: readonly ResultColumn[];
      readonly nullable: boolean;
      readonly rowType?: string;
    }
  | { readonly kind: 'objects'; readonly columns: readonly ResultColumn[]; readonly rowType?: string }
  | { readonly kind: 'values'; readonly column: ResultColumn }
  | { readonly kind: 'record' }
  | { readonly kind: 'records' };

/** An output column of CALL, as input of the statement that converts it. */
export interface OutputColumn {
  readonly name: string;
  /** The SQL type that the text is cast to; null keeps the text. */
  readonly type: string | null;
}

/** A response header. The value may contain `{parameter}` templates. */
export interface ResponseHeader {
  readonly name: string;
  readonly value: string;
}

/** The format of a raw response. */
export interface RawFormat {
  /** The text between values. With a separator, values other than numbers and booleans are in double quotes. */
  readonly separator: string | null;
  /** The text between rows. */
  readonly newLine: string | null;
  /** Whether the first line has the column names. */
  readonly columnNames: boolean;
}

/** The destination of the request headers: none, a session setting, or the parameter at a position. */
export type RequestHeadersBinding =
  | { readonly mode: 'ignore' }
  | { readonly mode: 'context' }
  | { readonly mode: 'parameter'; readonly position: number };

/** The table operation of an endpoint, for its query builder and for generators. */
export interface TableEndpoint {
  readonly operation: TableOperation;
  /** In order. Parameters and result columns have the names of these columns. */
  readonly columns: readonly Omit<TableColumn, 'type'>[];
  readonly listing: Listing | null;
  /** Whether rows have a version (`xmin`), sent as `ETag`. */
  readonly versioned: boolean;
  readonly allowUnfilteredDelete: boolean;
  /** Whether a request with the complete key is refused when it finds no row. */
  readonly requiresRow: boolean;
  /** What the source of the endpoint needs for its queries. */
  readonly sourceData?: object;
}

/** The positions of the parameters of a listing: its order, page, columns and groups of conditions. */
export interface Listing extends PageLimits {
  readonly order: number;
  readonly limit: number;
  readonly offset: number;
  readonly after: number;
  readonly select: number;
  readonly or: number;
  readonly and: number;
}

/** Overrides for generated clients. Null uses the option of the generator. */
export interface TypedClientOptions {
  /** Whether clients include the endpoint. */
  readonly included: boolean;
  /** Whether clients can subscribe to the events of the endpoint. */
  readonly events: boolean | null;
  /** Whether functions take a callback that changes the URL. */
  readonly parseUrl: boolean | null;
  /** Whether functions take a callback that changes the request. */
  readonly parseRequest: boolean | null;
  /** Whether functions also return the status. */
  readonly statusCode: boolean | null;
}

/** Why a parameter was refused: the member `code` of a field error. Programs may branch on it. */
export const fieldErrorCodes = [
  'required',
  'unknown',
  'repeated',
  'invalid',
  'too-short',
  'too-long',
  'out-of-range',
  'not-null',
  'unique',
  'foreign-key',
  'check',
  'exclusion',
] as const;

export type FieldErrorCode = (typeof fieldErrorCodes)[number];

/** A login or logout. The columns of a login row are indexes; null for a missing column. */
export type LoginOrLogout =
  | {
      readonly kind: 'login';
      /** A boolean, or a number that is the status of the response. */
      readonly statusColumn: number | null;
      readonly messageColumn: number | null;
      readonly schemeColumn: number | null;
      readonly hashColumn: number | null;
      /** The position of the password parameter. */
      readonly passwordParameter: number | null;
      /** The position of the parameter that identifies the user for rate limiting. */
      readonly userParameter: number | null;
    }
  | { readonly kind: 'logout' };

/** HTTP Basic authentication for one endpoint. Without a user and a command, all requests are rejected. */
export interface BasicAuthentication {
  readonly user: string | null;
  readonly hash: string | null;
  readonly realm: string | null;
  /** SQL with `$1` user, `$2` password, `$3` realm, `$4` path. Its row is read like a login row. */
  readonly command: string | null;
}

/** The subscribers that receive an event. */
export interface EventScope {
  /**
   * - `self`: the stream with the execution id of the call
   * - `matching`: callers that may call the endpoint
   * - `authorize`: signed-in callers; with names, those that have one: a role, `user:<name>` or `id:<id>`
   * - `all`: every subscriber
   */
  readonly kind: 'self' | 'matching' | 'authorize' | 'all';
  /** Empty unless the kind is `authorize`. */
  readonly names: readonly string[];
}

/** The event stream of an endpoint, and the default scope of its events. */
export interface EndpointEvents {
  /** The whole path, without parameters. Endpoints of one comment share it. */
  readonly path: string;
  /** The scope of messages that the routine raises. */
  readonly scope: EventScope;
  /** The level of these messages; absent: `info`. */
  readonly level?: 'notice' | 'warning';
  /** A `NOTIFY` channel whose payloads are events too. */
  readonly channel: { readonly name: string; readonly scope: EventScope } | null;
}

/** The response caching of an endpoint. */
export interface CachePolicy {
  /** The positions of the parameters in the cache key; null for all parameters. */
  readonly parameters: readonly number[] | null;
  /** Null: until the response is invalidated or evicted. */
  readonly expiresInMs: number | null;
  /** The tables whose committed changes invalidate the responses; absent: none. */
  readonly untilChangesOf?: readonly TableName[];
}

/** File uploads as `multipart/form-data`. The parameters come from the query string. */
export interface EndpointUpload {
  /** The names of the upload handlers, in order. */
  readonly handlers: readonly string[];
  /** The texts of the options that the comment sets, by handler and option name. They may contain `{parameter}` templates. */
  readonly options: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The lines of these options in the comment, from 1. Absent where a hook has made the upload. */
  readonly lines?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The position of the parameter that receives the metadata of the files as JSON; null: none. */
  readonly metadataParameter: number | null;
}

/** The statements of an endpoint in a database with the extension Citus. RETURNING has plain columns, which a query around it converts. */
export interface CitusRules {
  /** Whether the function is called WITH ORDINALITY. Otherwise PostgreSQL inlines it, and Citus refuses the query. */
  readonly withOrdinality: boolean;
}

/** A hint about the effects of a tool, as in the annotations of MCP tools. */
export type ToolHint = (typeof toolHints)[number];
export const toolHints = ['read_only', 'destructive', 'additive', 'idempotent', 'open_world'] as const;

/** The endpoint as a tool of the Model Context Protocol, as its comment describes it. */
export interface EndpointTool {
  /** Whether the endpoint is a tool; null: an option of the server decides. */
  readonly included: boolean | null;
  /** Null: the name of the routine. */
  readonly name: string | null;
  readonly title: string | null;
  /** Null: the kind of the routine decides. */
  readonly hints: readonly ToolHint[] | null;
}

/** A published endpoint: frozen, plain data that can be serialized as JSON. */
export interface Endpoint {
  /** The signature: `library.search_books(_title text, _limit integer)`, or `insert returning library.book` for a table. */
  readonly id: string;
  /** The name of the routine source: `functions` for routines of the database. */
  readonly source: string;
  readonly kind: 'function' | 'procedure' | RelationKind;
  readonly schema: string;
  readonly name: string;
  readonly method: Method;
  /** The whole path. `{name}` and `{name?}` segments are parameters. */
  readonly path: string;
  readonly parameterSource: ParameterSource;
  readonly parameters: readonly EndpointParameter[];
  /** Whether unknown keys are rejected even when the gateway ignores them: a misspelt filter would affect more rows. */
  readonly rejectsUnknownKeys: boolean;
  /** Output-only parameters of a procedure, which CALL needs placeholders for: each before an input position. */
  readonly outputs: readonly { readonly name: string | null; readonly before: number }[];
  /**
   * The output columns of a procedure that a second statement converts to JSON, because CALL cannot be part of a query. Absent when
   * no column needs conversion.
   */
  readonly outputConversion?: readonly OutputColumn[];
  /** Null for functions and procedures. */
  readonly table: TableEndpoint | null;
  /** The dialect of its requests and responses, whose query builder reads the query string and the body. Absent: parameters and result. */
  readonly dialect?: string;
  /** Messages for constraint violations, by `schema.table.constraint`. */
  readonly constraintMessages: Readonly<Record<string, string>>;
  readonly result: ResultShape;
  /** The media type from the comment, which may contain templates; null for the type of the result. */
  readonly contentType: string | null;
  readonly responseHeaders: readonly ResponseHeader[];
  /** Whether the caller must be signed in and, unless `roles` is empty, have one of the roles. */
  readonly authorization: { readonly required: boolean; readonly roles: readonly string[] };
  /** Null unless the routine is a login or logout. */
  readonly loginOrLogout: LoginOrLogout | null;
  readonly basicAuthentication: BasicAuthentication | null;
  /** Null without an event stream. */
  readonly events: EndpointEvents | null;
  /** Absent without a stream of row changes. */
  readonly changes?: EndpointChanges;
  /** Whether session settings pass the identity of the caller to the call. */
  readonly userContext: boolean;
  readonly tags: readonly string[];
  readonly typedClient: TypedClientOptions;
  /** Null without uploads. */
  readonly upload: EndpointUpload | null;
  /** Null without caching. */
  readonly cache: CachePolicy | null;
  /** The name of the rate limit policy; null: requests are not limited. */
  readonly rateLimit: string | null;
  /** `schema.name` of the routines and tables whose cached responses a successful call invalidates. */
  readonly invalidates: readonly string[];
  /** The raw format: values as PostgreSQL text instead of JSON; null for other formats. */
  readonly raw: RawFormat | null;
  /** The named connection; null for the default connection. */
  readonly connection: string | null;
  readonly requestHeaders: RequestHeadersBinding;
  /** The position of the parameter that receives the whole body; the others come from the query string. Else null. */
  readonly bodyParameter: number | null;
  /** Whether parameter values are masked in logs. */
  readonly sensitive: boolean;
  /** PostgreSQL's `plan_cache_mode` for the call; null for the setting of the connection. */
  readonly planCacheMode: 'auto' | 'force_generic_plan' | 'force_custom_plan' | null;
  /** Rows per write: 0 writes each row separately, 1 buffers the whole response. */
  readonly bufferRows: number;
  /** Whether the call sets status and headers of its response, through settings of its transaction. */
  readonly responseSettings: boolean;
  /** Null for the timeout of the gateway; 0 for none. */
  readonly timeoutMs: number | null;
  /** The response for a NULL in a text response. */
  readonly textResponseNullHandling: 'emptyString' | 'nullLiteral' | 'noContent';
  /** The values in the query string that mean NULL. */
  readonly queryStringNullHandling: 'ignore' | 'emptyString' | 'nullLiteral';
  /** The comment without its annotation lines. */
  readonly description: string;
  readonly volatility: 'volatile' | 'stable' | 'immutable';
  /** Of a SQL file: whether every text that a call runs has been read, and only reads. */
  readonly isReadThroughout?: true;
  /** Whether the connection is reset after each call; absent when the comment does not set it. */
  readonly connectionReset?: boolean;
  /** Whether calls that only read run on the primary, or on any read replica; absent when the comment does not set it. */
  readonly consistency?: 'strong' | 'eventual';
  /** Absent when the comment says nothing about tools. */
  readonly mcp?: EndpointTool;
  /** Whether requests may (`optional`) or must (`required`) have an idempotency key; absent: keys have no effect. */
  readonly idempotency?: 'optional' | 'required';
  /** The waits before a call is repeated that PostgreSQL has rolled back for a serialization failure or deadlock; absent: it is not. */
  readonly retryDelaysMs?: readonly number[];
  /** The effects of a call on its session; absent for none. */
  readonly sessionEffects?: SessionEffects;
  /** Absent for a database without the extension Citus. */
  readonly citus?: CitusRules;
  /** Whether JSON has `int8` and `numeric` as strings: always, or when a client requests it. Absent: as numbers. */
  readonly largeNumbers?: 'string' | 'negotiated';
  /** The format of rows where `Accept` has no preference; absent: JSON. */
  readonly tableFormat?: TableFormat;
  /** The name of the file of a workbook, with `{name}` for values of parameters; absent: the name of the routine, table or file. */
  readonly excelFileName?: string;
  /** The name of the sheet of a workbook, as `excelFileName`. */
  readonly excelSheet?: string;
  /** The formats of rows that packages add, which clients may select; absent without them, or for other results. */
  readonly documents?: readonly DocumentFormat[];
  /** Problems about parameters list these in the member `errors`, with this status (null: that of the problem). Absent: they do not. */
  readonly fieldErrors?: { readonly status: number | null };
  /** The CREATE statement of the routine; absent unless the gateway is configured to read it. */
  readonly definition?: string;
}
