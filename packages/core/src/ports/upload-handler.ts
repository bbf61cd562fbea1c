import type { Readable } from 'node:stream';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { UploadOptionDefinitions, UploadOptionValue } from '../endpoints/upload-option.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Step, TextTable, Value } from '../postgres/port.ts';
import type { Caller, UploadStatus } from './ports.ts';

export type { UploadStatus };

/** A file of a multipart form (RFC 7578). */
export interface UploadFile {
  /** The last component of the name that the client sent; never a path, but any other text. */
  readonly fileName: string;
  /** The media type that the client sent. */
  readonly contentType: string;
  /** The name of the form field. */
  readonly fieldName: string;
  /**
   * The bytes. The handler reads them to the end, or returns early; the rest is then discarded. The stream fails when the client
   * disconnects or the file exceeds a limit.
   */
  readonly content: Readable;
}

/** The result of a handler for one file, or for one part of it, such as a sheet. */
export interface StoredUpload {
  readonly status: UploadStatus;
  /** Members of the metadata after `size`, such as `filePath`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Members at the end of the metadata, as JSON text, such as `oid`. */
  readonly lastMembers?: Readonly<Record<string, string>>;
}

/** The transaction in which the routine runs after the upload. */
export interface UploadTransaction {
  /** Runs one statement, and returns its rows in PostgreSQL's text format. Values never become part of the text. */
  readonly query: (sql: string, values?: readonly Value[]) => Promise<TextTable>;
  /** Runs statements in one network round trip. Calls may overlap: they run in order. */
  readonly run: (steps: readonly Step[]) => Promise<void>;
}

/** The request of an upload, and the effects of its end on what a handler has stored. */
export interface UploadContext {
  readonly endpoint: Endpoint;
  readonly request: GatewayRequest;
  /** Null: anonymous. */
  readonly caller: Caller | null;
  /** The tenant, whose files must be separate from those of other tenants; null: there are no tenants. */
  readonly tenant: string | null;
  /** The name of the handler in comments, which is the member `type` of the metadata. */
  readonly handlerName: string;
  /** The values of the options that the handler defines, and of the common ones, by name. */
  readonly options: Readonly<Record<string, UploadOptionValue>>;
  /** The texts of the options that contained templates, before values of the request replaced them, by option name. */
  readonly templates: Readonly<Record<string, string>>;
  /** Aborted when the upload fails: the client disconnects, or the form exceeds a limit. */
  readonly signal: AbortSignal;
  /**
   * Begins the transaction, or returns the one that another handler has begun. Uploads share a part of the connections: it may wait.
   * It belongs to the caller's role and settings.
   */
  readonly transaction: () => Promise<UploadTransaction>;
  /**
   * Registers how to remove what was stored. Called when the request fails afterwards, in reverse order. Its errors are logged. When
   * the connection is lost during the commit, neither this nor `onCommit` is called: the routine may refer to what was stored.
   */
  readonly onRollback: (remove: () => void | Promise<void>) => void;
  /** Registers what follows the successful end of the call, such as the removal of a replaced file. Its errors are logged. */
  readonly onCommit: (finish: () => void | Promise<void>) => void;
}

/** Stores the files of an upload. Made once, and used by all requests. */
export interface UploadHandler {
  /**
   * The options of the handler, by name in snake case. A comment sets them, with or without the handler's name as prefix:
   * `path = ./covers` or `file_system_path = ./covers`.
   */
  readonly options?: UploadOptionDefinitions;
  /** Whether `store` may refuse a file after having read it. With `stop_after_first_success`, the next handler then reads it again. */
  readonly mayRefuse?: boolean;
  /** Whether files have to be text, whatever `check_text` is. Default: as `check_text`. */
  readonly checksText?: (options: UploadContext['options']) => 'text' | 'lines' | null;
  /** The members of the metadata of a refused file, as in `StoredUpload`. */
  readonly refusedMembers?: Pick<StoredUpload, 'members' | 'lastMembers'>;
  /**
   * Stores a file that has passed the checks.
   * @throws any error, which fails the request: a `Problem` is its response
   */
  store(file: UploadFile, context: UploadContext): Promise<StoredUpload | readonly StoredUpload[]>;
}

/** Makes a handler at start. */
export type UploadHandlerFactory = () => UploadHandler;
