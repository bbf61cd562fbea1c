import type { UploadHandlerFactory } from '../../ports/upload-handler.ts';
import type { DefaultUploadHandlerOptions } from '../../uploads/default-handlers.ts';

/** File uploads: the handlers that comments can select with `upload`, and their limits. */
export interface UploadOptions {
  /** False: an endpoint with `upload` in its comment is an error. Default true. */
  readonly enabled: boolean;
  /** Whether each upload is logged. Default true. */
  readonly logUploadEvent: boolean;
  /** The handler of comments that name none. Default `large_object`. */
  readonly defaultUploadHandler: string;
  /** The options of the built-in handlers, which comments override. Null: uploads are disabled. Default: the defaults of each option. */
  readonly defaultUploadHandlerOptions: Partial<DefaultUploadHandlerOptions> | null;
  /**
   * The handlers by the names that comments use. Null: the built-in ones, with `defaultUploadHandlerOptions`. An empty object disables
   * uploads. Otherwise exactly these.
   */
  readonly uploadHandlers: Readonly<Record<string, UploadHandlerFactory>> | null;
  /** The setting that receives the metadata of the files as JSON. Default `request.upload_metadata`. */
  readonly defaultUploadMetadataContextKey: string;
  /** The parameter that receives the metadata of the files as JSON. Default `_upload_metadata`. */
  readonly defaultUploadMetadataParameterName: string;
  /** Whether calls after an upload have the setting `defaultUploadMetadataContextKey`. Default false. */
  readonly useDefaultUploadMetadataContextKey: boolean;
  /** Whether parameters named `defaultUploadMetadataParameterName` receive the metadata without being named in the comment. Default false. */
  readonly useDefaultUploadMetadataParameter: boolean;
  /** The maximum size of a file in bytes; a larger one gets a 413. Default 134,217,728. */
  readonly maxFileSize: number;
  /** The maximum size of the whole body in bytes; a larger one gets a 413. Default 268,435,456. */
  readonly maxTotalSize: number;
  /** The maximum number of files of a form; a further one gets a 413. Default 20. */
  readonly maxFiles: number;
  /** The maximum number of files and fields of a form together; a further one gets a 413. Default 100. */
  readonly maxParts: number;
  /**
   * Bytes per second; a client that is more than `slowClientTimeout` behind gets a 408, as its upload holds a connection. 0: no
   * minimum. Default 1,024.
   */
  readonly minUploadRate: number;
  /** The maximum number of connections to each database that uploads hold; null: half of its connections, at least one. */
  readonly maxUploadConnections: number | null;
  /** Seconds that an upload waits for one of these connections before it gets a 503. Default 60. */
  readonly uploadQueueTimeout: number;
}

export const uploadDefaults: UploadOptions = Object.freeze({
  enabled: true,
  logUploadEvent: true,
  defaultUploadHandler: 'large_object',
  defaultUploadHandlerOptions: {},
  uploadHandlers: null,
  defaultUploadMetadataContextKey: 'request.upload_metadata',
  defaultUploadMetadataParameterName: '_upload_metadata',
  useDefaultUploadMetadataContextKey: false,
  useDefaultUploadMetadataParameter: false,
  maxFileSize: 128 * 1024 * 1024,
  maxTotalSize: 256 * 1024 * 1024,
  maxFiles: 20,
  maxParts: 100,
  minUploadRate: 1024,
  maxUploadConnections: null,
  uploadQueueTimeout: 60,
});
