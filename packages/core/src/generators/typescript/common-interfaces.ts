import type { ClientModel } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';

type One = ClientModel['functions'][number];

export const isLogin = ({ result }: One): boolean => result.kind === 'signIn';
export const hasEvents = ({ events }: One): boolean => events !== null;
export const isUpload = ({ endpoint }: One): boolean => endpoint.upload !== null;
const returnsStatus = ({ statusCode }: One): boolean => statusCode;

/** Interfaces that are not of any endpoint, where one of the functions needs them. */
interface CommonInterface {
  /** Those that functions name. */
  readonly names: readonly string[];
  readonly needed: (one: One) => boolean;
  readonly text: (options: TypescriptClientOptions) => string;
}

const all: readonly CommonInterface[] = [
  {
    names: ['ICallOptions'],
    needed: () => true,
    text: ({ xsrfTokenHeaderName }) => {
      const token = '  /** Sent with whatever changes something. */\n  xsrfToken?: string | undefined;\n';
      return `/** An answer before its body is read. */
export interface IAnswer {
  status: number;
  headers: Headers;
}

/** What a single call may bring along. */
export interface ICallOptions {
  /** Ends the call when it is aborted. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
  /** Gets the status and headers of the answer, whether it is a success or not. */
  onResponse?: ((answer: IAnswer) => void) | undefined;
${xsrfTokenHeaderName === null ? '' : token}}`;
    },
  },
  {
    names: ['IProblem'],
    needed: () => true,
    text: () => `/** Why a call did not succeed (RFC 9457); of the database's errors also \`code\`, the SQLSTATE, and what PostgreSQL tells. */
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
}`,
  },
  {
    names: ['ISignedIn', 'ITokens'],
    needed: isLogin,
    text: () => `/** What a scheme of tokens answers with; times are seconds. */
export interface ITokens {
  token_type: string;
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  refresh_expires_in?: number;
}

/** What signing in gives: tokens, or what the routine says of it. A cookie is kept by the browser. */
export type ISignedIn = ITokens | string;`,
  },
  {
    names: ['IEventOptions'],
    needed: hasEvents,
    text: () => `/** What a call may bring along whose messages can be followed while it runs. */
export interface IEventOptions extends ICallOptions {
  /** Told of each message that the call raises. */
  onMessage?: ((message: string) => void) | undefined;
}`,
  },
  {
    names: ['IUploadOptions', 'IUploadProgress'],
    needed: isUpload,
    text: () => `/** How far an upload has come, in bytes. */
export interface IUploadProgress {
  loaded: number;
  total: number;
}

/** What a call with files may bring along. */
export interface IUploadOptions extends ICallOptions {
  /** Told while files leave, in browsers. */
  onProgress?: ((progress: IUploadProgress) => void) | undefined;
}`,
  },
  {
    names: ['IResult'],
    needed: returnsStatus,
    text: () => `/** An answer with its status and headers: \`problem\` tells whether it succeeded. */
export type IResult<T> =
  | { status: number; headers: Headers; response: T; problem: undefined }
  | { status: number; headers: Headers; response: undefined; problem: IProblem };`,
  },
];

function neededInterfaces({ functions }: ClientModel): readonly CommonInterface[] {
  return all.filter(({ needed }) => functions.some(needed));
}

export function commonInterfaceTexts(model: ClientModel, options: TypescriptClientOptions): readonly string[] {
  return neededInterfaces(model).map(({ text }) => text(options));
}

/** The names of those interfaces that the module itself uses. */
export function commonInterfaceNames(model: ClientModel): readonly string[] {
  const plainly = model.functions.some((one) => !isUpload(one) && (!hasEvents(one) || !returnsStatus(one)));
  return neededInterfaces(model).flatMap(({ names }) => (names.includes('ICallOptions') && !plainly ? [] : names));
}
