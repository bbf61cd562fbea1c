import type { SessionEffects } from '../catalog/routine.ts';
import type { PageLimits, RelationKind, TableColumn, TableOperation } from '../catalog/table.ts';
import type { NamedType } from './named-type.ts';

export type { SessionEffects } from '../catalog/routine.ts';

/** What we publish: decided at start, frozen, plain data that survives JSON. A request only fills it in. */

export const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'CONNECT'] as const;
export type Method = (typeof methods)[number];

/** Where a client's values come from. */
export type ParameterSource = 'query' | 'body';

/** What is known of a caller, as a parameter can hold it. */
export type InjectedValue = 'userId' | 'userName' | 'userRoles' | 'userClaims' | 'ipAddress';

export interface EndpointParameter {
  /** The routine's own name of it; `$1` by position when it has none. */
  readonly name: string;
  /** The converted name, by which clients usually give it. */
  readonly key: string;
  /** From 1, among the routine's input parameters. */
  readonly position: number;
  readonly type: NamedType;
  readonly optional: boolean;
  readonly variadic: boolean;
  /** True when the author gave no name, so that it can only be passed by position. */
  readonly unnamed: boolean;
  /** True when its value stands in the path, and may then not come from anywhere else. */
  readonly inPath: boolean;
  /**
   * True when its key may stand in the query string several times: the source of the endpoint reads the texts itself, and gets
   * them as a JSON array of strings and nulls.
   */
  readonly repeatable?: true;
  /** The gateway fills it with what is known of the caller; a client may not give it. */
  readonly injectedValue?: InjectedValue;
  /** The gateway fills it with the hash of the parameter at this position, whatever the client gives. */
  readonly hashOf?: number;
  /** The fields of a composite parameter, which may also be given one by one; null for every other type. */
  readonly fields: readonly ParameterField[] | null;
}

/** A field of a composite parameter as a key of its own, among the parameters. */
export interface ParameterField {
  /** `<parameter>_<field>`. */
  readonly name: string;
  /** That name converted. */
  readonly key: string;
  readonly type: NamedType;
}

export interface ResultColumn {
  readonly name: string;
  /** The composite column whose field it is, where composites are written flat; absent for a column of the result itself. */
  readonly parentColumn?: string;
  /** The key in JSON objects. */
  readonly key: string;
  readonly type: NamedType;
}

/**
 * The shape of an answer.
 * - `nothing`: 204
 * - `value`: one value; `media` tells whether as text, as JSON or as bytes
 * - `object`: one row; no row, or a NULL of a named type when `nullable`: 204
 * - `objects`: an array of objects, one per row
 * - `values`: an array of plain values, one per row
 * - `record`, `records`: rows whose columns only the call knows: arrays of text
 *
 * `rowType` is the composite or table type that the rows are of, quoted and qualified; absent when they are of none.
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

/** A column of what CALL gives, for the statement that converts it. */
export interface OutputColumn {
  readonly name: string;
  /** The type as which PostgreSQL reads its text again; null: the text goes on as it is. */
  readonly type: string | null;
}

/** A response header; the value may hold `{parameter}` templates. */
export interface ResponseHeader {
  readonly name: string;
  readonly value: string;
}

export interface RawFormat {
  /** Between values; with one, text and times stand in double quotes. */
  readonly separator: string | null;
  /** Between rows. */
  readonly newLine: string | null;
  /** A first line of the columns' names. */
  readonly columnNames: boolean;
}

export type RequestHeadersBinding =
  | { readonly mode: 'ignore' }
  | { readonly mode: 'context' }
  | { readonly mode: 'parameter'; readonly position: number };

/** What an endpoint does to a table, for the source that makes its statements and for generators. */
export interface TableEndpoint {
  readonly operation: TableOperation;
  /** In order; each parameter and each column of the answer has the name of one. */
  readonly columns: readonly Omit<TableColumn, 'type'>[];
  readonly listing: Listing | null;
  /** The rows have a version (`xmin`), and clients may ask for it. */
  readonly versioned: boolean;
  readonly allowUnfilteredDelete: boolean;
}

/** Which parameters of a select choose among its rows, by position. */
export interface Listing extends PageLimits {
  readonly order: number;
  readonly limit: number;
  readonly offset: number;
  readonly after: number;
}

/** What the author of an endpoint says of generated clients. Null: as the generator has it. */
export interface TypedClientOptions {
  /** False: clients do without this endpoint. */
  readonly included: boolean;
  /** Whether clients follow the notices of the endpoint. */
  readonly events: boolean | null;
  /** Whether callers may change the URL, or the request. */
  readonly parseUrl: boolean | null;
  readonly parseRequest: boolean | null;
  /** Whether the status is a part of the result. */
  readonly statusCode: boolean | null;
}

/** A routine that signs its caller in or out. Of a login, the columns of its row by index, null for one that it does not have. */
export type SignIn =
  | {
      readonly kind: 'login';
      /** A boolean, or a number that is the status of the answer. */
      readonly statusColumn: number | null;
      readonly messageColumn: number | null;
      readonly schemeColumn: number | null;
      readonly hashColumn: number | null;
      /** The position of the parameter that is the password. */
      readonly passwordParameter: number | null;
      /** The position of the parameter that names the user: what failed attempts are counted by. */
      readonly userParameter: number | null;
    }
  | { readonly kind: 'logout' };

/** HTTP Basic for this endpoint alone. With neither a user nor a command it refuses everybody. */
export interface BasicAuthentication {
  readonly user: string | null;
  readonly hash: string | null;
  readonly realm: string | null;
  /** `$1` user, `$2` password, `$3` realm, `$4` path; its row is read like that of a login. */
  readonly command: string | null;
}

/** Who gets an event. */
export interface EventScope {
  /**
   * - `self`: the stream of the caller that has the execution id of the call
   * - `matching`: who may call the endpoint
   * - `authorize`: who is signed in and, when names are given, has one of them: a role, `user:` and a name, `id:` and an id
   * - `all`: everybody
   */
  readonly kind: 'self' | 'matching' | 'authorize' | 'all';
  /** Of `authorize` alone. */
  readonly names: readonly string[];
}

/** Where an endpoint's events are streamed, and to whom where a message says nothing of it. */
export interface EndpointEvents {
  /** The whole path, without parameters. Endpoints that one comment has published share it. */
  readonly path: string;
  /** Of what the routine raises. */
  readonly scope: EventScope;
  /** A channel of `NOTIFY` whose payloads are events too. */
  readonly channel: { readonly name: string; readonly scope: EventScope } | null;
}

/** How answers are kept and given again. */
export interface CachePolicy {
  /** The positions of the parameters that tell answers apart; null: all of them do. */
  readonly parameters: readonly number[] | null;
  /** Milliseconds; null: until it is made void, or others need the room. */
  readonly expiresInMs: number | null;
}

/** Files that an endpoint takes as `multipart/form-data`; its parameters come from the query string then. */
export interface UploadOptions {
  /** What becomes of the files, by name; none: as the gateway has it. */
  readonly handlers: readonly string[];
}

export interface Endpoint {
  /** The routine's signature: `library.search_books(_title text, _limit integer)`; of a table, `insert returning library.book`. */
  readonly id: string;
  /** The name of the source that told of the routine: `functions` for those of the database. */
  readonly source: string;
  readonly kind: 'function' | 'procedure' | RelationKind;
  readonly schema: string;
  readonly name: string;
  readonly method: Method;
  /** The whole path; `{name}` and `{name?}` segments are parameters. */
  readonly path: string;
  readonly parameterSource: ParameterSource;
  readonly parameters: readonly EndpointParameter[];
  /** A key that is no parameter is refused also where the host lets such keys pass: the call would touch more than was meant. */
  readonly rejectsUnknownKeys: boolean;
  /** For procedures: where CALL wants placeholders for output-only parameters. */
  readonly outputs: readonly { readonly name: string | null; readonly before: number }[];
  /**
   * For procedures: what CALL gives, where PostgreSQL has to make JSON of a part of it. Nothing can be wrapped around a CALL, so that
   * a second statement does that. Absent for every other endpoint.
   */
  readonly outputConversion?: readonly OutputColumn[];
  /** Null for functions and procedures. */
  readonly table: TableEndpoint | null;
  /** What a client is told in place of PostgreSQL's message, by `schema.table.constraint`. */
  readonly constraintMessages: Readonly<Record<string, string>>;
  readonly result: ResultShape;
  /** The response's media type when the author gave one; else the answer's own. May hold templates. */
  readonly contentType: string | null;
  readonly responseHeaders: readonly ResponseHeader[];
  /** Signed in, and one of the roles when any are named. */
  readonly authorization: { readonly required: boolean; readonly roles: readonly string[] };
  /** Null for every routine that does something else. */
  readonly signIn: SignIn | null;
  readonly basicAuthentication: BasicAuthentication | null;
  /** Null: nothing of it is streamed. */
  readonly events: EndpointEvents | null;
  /** The call is told of its caller by session settings. */
  readonly userContext: boolean;
  readonly tags: readonly string[];
  readonly typedClient: TypedClientOptions;
  /** Null: it takes no files. Nothing takes files yet: `upload` in a comment stops its endpoint. */
  readonly upload: UploadOptions | null;
  /** Null: every request is a call of its own. */
  readonly cache: CachePolicy | null;
  /** `schema.name` of the routines and tables whose kept answers are void once a call has succeeded. */
  readonly invalidates: readonly string[];
  /** Values as PostgreSQL's text, one after the other, instead of JSON; null for every other answer. */
  readonly raw: RawFormat | null;
  /** The named connection that runs the routine; null: the gateway's own. */
  readonly connection: string | null;
  /** Where the request's headers go: nowhere, into a session setting, or into the parameter at this position. */
  readonly requestHeaders: RequestHeadersBinding;
  /** The position of the parameter that takes the body as it is; the others come from the query then. Null: none does. */
  readonly bodyParameter: number | null;
  /** Parameter values never reach a log. */
  readonly sensitive: boolean;
  /** How PostgreSQL plans this call, where that is not as the connection has it. */
  readonly planCacheMode: 'auto' | 'force_generic_plan' | 'force_custom_plan' | null;
  /** Rows per write: 0 writes every row on its own, 1 holds the whole answer. */
  readonly bufferRows: number;
  /** Milliseconds; null takes the gateway's. */
  readonly timeoutMs: number | null;
  /** How a NULL is answered where text is. */
  readonly textResponseNullHandling: 'emptyString' | 'nullLiteral' | 'noContent';
  /** What stands for NULL in a query string. */
  readonly queryStringNullHandling: 'ignore' | 'emptyString' | 'nullLiteral';
  /** The author's prose, without the annotation lines; generators and listings show it. */
  readonly description: string;
  readonly volatility: 'volatile' | 'stable' | 'immutable';
  /** Whether the connection is reset after each call, where the comment says so. */
  readonly connectionReset?: boolean;
  /** What its calls may do to their session; absent for one that only reads. */
  readonly sessionEffects?: SessionEffects;
  /** The statement that creates the routine; absent unless the gateway was to read it. */
  readonly definition?: string;
}
