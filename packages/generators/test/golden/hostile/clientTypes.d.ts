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

export interface INewLineRequest {
  "a\nb": number | null;
}

export interface I100SureRequest {
  "percent%"?: number | null;
}

export interface IAwaitRequest {
  let: { constructor?: number | null | Object["constructor"]; "*/"?: string | null; "a\"b"?: Date | null } | null;
  in?: string | null;
}

export interface IAwaitResponse {
  constructor: number | null;
  "*/": string | null;
  "a\"b": string | null;
}

export interface IExampleOrgIdRequest {
  id: number;
}

export interface IClassDeleteRequest {
  default: number | null;
  proto: string;
  "*/ x"?: string;
  "${a}`"?: string;
}

export interface IClassDeleteResponse {
  constructor: number | null;
  "with space": string | null;
  "quote\"s": string | null;
  "*/": string | null;
  "emoji 😀": string | null;
  "`${1}`": string | null;
}

export interface IFetchRequest {
  moods: ("fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}" | null)[];
}

export interface IMoodMoodRequest {
  mood: "fine" | "it's */ \"quoted\"" | "\u003c/script>" | "two\nlines" | "${x}" | "" | "{{host}}";
}

export interface IThenRequest {
  valueOf?: number | null | Object["valueOf"];
}

export interface IConstructorConstructorToStringRequest {
  constructor: string;
  toString?: string | Object["toString"];
  valueOf?: number | null | Object["valueOf"];
}

export interface IConstructorConstructorToStringResponse {
  toString: string | null;
  isPrototypeOf: number | null;
}

export interface IU1f916RobotRequest {
  "😀": string;
}
