/** An answer before its body is read. */
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
}

/** Why a call did not succeed (RFC 9457); of the database's errors also `code`, the SQLSTATE, and what PostgreSQL tells. */
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
