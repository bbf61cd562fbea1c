import { fieldErrorCodes } from '@pgway/core/internal';
import { stringLiteral } from '../source-text.ts';

import type { ClientFunction, ClientModel } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';

export const isLogin = ({ result }: ClientFunction): boolean => result.kind === 'login';
export const hasEvents = ({ events }: ClientFunction): boolean => events !== null;
export const hasChanges = ({ changes }: ClientFunction): boolean => changes !== null;
export const isUpload = ({ endpoint }: ClientFunction): boolean => endpoint.upload !== null;
const listsFieldErrors = ({ endpoint }: ClientFunction): boolean => endpoint.fieldErrors !== undefined;
const returnsStatus = ({ statusCode }: ClientFunction): boolean => statusCode;

/** An interface that is independent of endpoints; included if a function needs it. */
interface CommonInterface {
  /** The declarations that functions use. */
  readonly names: readonly string[];
  readonly needed: (fn: ClientFunction) => boolean;
  readonly text: (options: TypescriptClientOptions, functions: readonly ClientFunction[]) => string;
}

const all: readonly CommonInterface[] = [
  {
    names: ['ICallOptions'],
    needed: () => true,
    text: ({ xsrfTokenHeaderName, batchPath }) => {
      const fetchMember =
        '  /** Sends the request; `batch` sets it. */\n  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;\n';
      const token = '  /** Sent with methods that change data. */\n  xsrfToken?: string | undefined;\n';
      return `/** Status and headers of a response. */
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
${xsrfTokenHeaderName === null ? '' : token}${batchPath === null ? '' : fetchMember}}`;
    },
  },
  {
    names: ['IProblem'],
    needed: () => true,
    text: (
      _,
      functions,
    ) => `/** Why a call failed (RFC 9457). Errors of the database have \`code\`, the SQLSTATE, and further fields of PostgreSQL. */
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
${functions.some(listsFieldErrors) ? '  /** The refused parameters of the request. */\n  errors?: readonly IFieldError[];\n' : ''}  [member: string]: unknown;
}`,
  },
  {
    names: [],
    needed: listsFieldErrors,
    text: () => `/** Why a parameter was refused. \`pointer\` is its JSON Pointer, such as \`/email\`; empty: the request as a whole. */
export interface IFieldError {
  pointer: string;
  code: ${fieldErrorCodes.map((code) => stringLiteral(code)).join(' | ')};
  detail: string;
}`,
  },
  {
    names: ['ISignedIn', 'ITokens'],
    needed: isLogin,
    text: () => `/** Tokens of a login; times are seconds. */
export interface ITokens {
  token_type: string;
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  refresh_expires_in?: number;
}

/** The result of a login: tokens, or the message of the routine. The browser keeps cookies. */
export type ISignedIn = ITokens | string;`,
  },
  {
    names: ['IEventOptions'],
    needed: hasEvents,
    text: () => `/** Options of a call with messages. */
export interface IEventOptions extends ICallOptions {
  /** Receives each message that the call raises. */
  onMessage?: ((message: string) => void) | undefined;
}`,
  },
  {
    names: ['IIdempotentOptions'],
    needed: ({ endpoint }) => endpoint.idempotency !== undefined,
    text: () => `/** Options of a call that runs once for each key. */
export interface IIdempotentOptions extends ICallOptions {
  /** Random, such as \`crypto.randomUUID()\`. A repeated call with the same key runs once, and has the same result. */
  idempotencyKey?: string | undefined;
}`,
  },
  {
    names: ['IUploadOptions', 'IUploadProgress'],
    needed: isUpload,
    text: () => `/** The progress of an upload, in bytes. */
export interface IUploadProgress {
  loaded: number;
  total: number;
}

/** Options of an upload. */
export interface IUploadOptions extends ICallOptions {
  /** Receives the progress. */
  onProgress?: ((progress: IUploadProgress) => void) | undefined;
}`,
  },
  {
    names: [],
    needed: isUpload,
    text: (_, functions) => metadataText(functions),
  },
  {
    names: ['IResult'],
    needed: returnsStatus,
    text: () => `/** A response with status and headers; \`problem\` is undefined for a success. */
export type IResult<T> =
  | { status: number; headers: Headers; response: T; problem: undefined }
  | { status: number; headers: Headers; response: undefined; problem: IProblem };`,
  },
];

/** The members of the metadata that one handler adds (reference, "upload"). */
const handlerMembers: Readonly<Record<string, string>> = {
  large_object: 'oid: number | null',
  file_system: 'filePath: string | null',
  csv: 'lastResult?: unknown',
  excel: 'sheet: string | null; lastResult?: unknown',
};

function metadataText(functions: readonly ClientFunction[]): string {
  const handlers = [...new Set(functions.flatMap(({ endpoint }) => endpoint.upload?.handlers ?? []))].toSorted();
  const variants = handlers.map((handler) => {
    const members = handlerMembers[handler] ?? '[member: string]: unknown';
    return `\n  | (IUploadedFile & { type: ${stringLiteral(handler)}; ${members} })`;
  });
  return `/** A file of an upload, as the database receives it. */
export interface IUploadedFile {
  fileName: string;
  contentType: string;
  size: number;
  success: boolean;
  status: "Ok" | "Empty" | "ProbablyBinary" | "NoNewLines" | "InvalidImage" | "InvalidMimeType" | "InvalidFormat" | "Ignored";
}

/** The metadata of an upload, for routines that return it: an array with an object for each handler and file. */
export type IUploadMetadata =${variants.join('') || ' IUploadedFile & { type: string }'};`;
}

function neededInterfaces({ functions }: ClientModel): readonly CommonInterface[] {
  return all.filter(({ needed }) => functions.some(needed));
}

export function commonInterfaceTexts(model: ClientModel, options: TypescriptClientOptions): readonly string[] {
  return neededInterfaces(model).map(({ text }) => text(options, model.functions));
}

/** Returns the names of the interfaces that functions use. */
export function commonInterfaceNames(model: ClientModel): readonly string[] {
  const usesCallOptions = model.functions.some((fn) => !isUpload(fn) && (!hasEvents(fn) || !returnsStatus(fn)));
  return neededInterfaces(model).flatMap(({ names }) =>
    names.includes('ICallOptions') && !usesCallOptions ? [] : names,
  );
}
