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

/** Options of a call with messages. */
export interface IEventOptions extends ICallOptions {
  /** Receives each message that the call raises. */
  onMessage?: ((message: string) => void) | undefined;
}

/** The progress of an upload, in bytes. */
export interface IUploadProgress {
  loaded: number;
  total: number;
}

/** Options of an upload. */
export interface IUploadOptions extends ICallOptions {
  /** Receives the progress. */
  onProgress?: ((progress: IUploadProgress) => void) | undefined;
}

/** A file of an upload, as the database receives it. */
export interface IUploadedFile {
  fileName: string;
  contentType: string;
  size: number;
  success: boolean;
  status: "Ok" | "Empty" | "ProbablyBinary" | "NoNewLines" | "InvalidImage" | "InvalidMimeType" | "InvalidFormat" | "Ignored";
}

/** The metadata of an upload, for routines that return it: an array with an object for each handler and file. */
export type IUploadMetadata =
  | (IUploadedFile & { type: "csv"; lastResult?: unknown })
  | (IUploadedFile & { type: "large_object"; oid: number | null });

export interface IAddBookRequest {
  isbn: string | null;
  title: string | null;
  genre: "novel" | "drama" | "poetry" | "fantasy" | "history" | "science" | "children" | null;
  published: number | null;
  authors?: (string | null)[] | null;
}

export interface IAddBookResponse {
  id: number | null;
  isbn: string | null;
  title: string | null;
  genre: "novel" | "drama" | "poetry" | "fantasy" | "history" | "science" | "children" | null;
  published: number | null;
  century: number | null;
}

export interface IBranchesBranchIdStatisticsRequest {
  branchId: number;
}

export interface IBranchesBranchIdStatisticsResponse {
  titles: number | null;
  copies: number | null;
  onLoan: number | null;
  shareOnLoan: number | null;
}

export interface IReservationsIdRequest {
  id: number;
}

export interface ICountCopiesRequest {
  bookId: number | null;
  condition?: "new" | "good" | "worn" | "withdrawn" | null;
}

export interface IExportOverdueRequest {
  branchId: number | null;
  on?: string | null;
}

export interface IGetAuthorsRequest {
  isbn: string;
}

export interface IBooksIdRequest {
  id: number;
}

export interface IBooksIdResponse {
  id: number | null;
  isbn: string | null;
  title: string | null;
  genre: "novel" | "drama" | "poetry" | "fantasy" | "history" | "science" | "children" | null;
  published: number | null;
  century: number | null;
}

export interface IBooksIdCardRequest {
  id: number;
}

export interface IBooksIdCoverFormatRequest {
  id: number;
  format: string;
}

export interface IGetLastReturnRequest {
  memberId: number | null;
}

export interface IGetMembershipRequest {
  memberId: number | null;
}

export interface IBranchesBranchIdOpeningHoursGetRequest {
  branchId: number;
}

export interface IGetOverdueRequest {
  on?: string | null;
  branchId?: number | null;
}

export interface IGetOverdueResponse {
  dueOn: string | null;
  daysLate: number | null;
  title: string | null;
  member: string | null;
}

export interface IMembersMemberIdStatementRequest {
  memberId: number;
}

export interface IImportBooksResponse {
  line: number | null;
  isbn: string | null;
  title: string | null;
  problem: string | null;
}

export interface IIsAvailableRequest {
  bookId: number | null;
}

export interface IMembersRequest {
  name: string | null;
  email: string | null;
  membership?: "child" | "adult" | "staff" | null;
  address?: { street?: string | null; postcode?: string | null; city?: string | null } | null;
}

export interface IMembersResponse {
  id: number | null;
  name: string | null;
  email: string | null;
  membership: "child" | "adult" | "staff" | null;
  address: { street: string | null; postcode: string | null; city: string | null } | null;
  joinedOn: string | null;
  leftOn: string | null;
}

export interface ILateFeeRequest {
  dueOn: string | null;
  on?: string | null;
}

export interface ILendCopyRequest {
  copyId: number | null;
  memberId: number | null;
  days?: number | null;
}

export interface ILendCopyResponse {
  loanId: number | null;
  title: string | null;
  member: string | null;
  dueOn: string | null;
}

export interface IMembersMemberIdPaymentsRequest {
  memberId: number;
}

export interface IReadingListRequest {
  bookIds: (number | null)[];
}

export interface IReadingListResponse {
  place: number | null;
  title: string | null;
  published: number | null;
}

export interface IReindexShelvesRequest {
  branchId: number | null;
}

export interface IReserveBookRequest {
  bookId: number | null;
  memberId: number | null;
  place?: number | null;
}

export interface IReserveBookResponse {
  place: number | null;
}

export interface IReturnCopyRequest {
  copyId: number | null;
}

export interface IBooksRequest {
  text?: string;
  genres?: ("novel" | "drama" | "poetry" | "fantasy" | "history" | "science" | "children" | null)[];
  limit?: number | null;
}

export interface IBooksResponse {
  id: number | null;
  isbn: string | null;
  title: string | null;
  genre: "novel" | "drama" | "poetry" | "fantasy" | "history" | "science" | "children" | null;
  published: number | null;
  century: number | null;
}

export interface IBooksIdCoverRequest {
  id: number;
}

export interface IBranchesBranchIdOpeningHoursPutRequest {
  branchId: number;
  hours: string | null;
}

export interface IShelfListRequest {
  branchId: number | null;
}

export interface ISuggestTitlesRequest {
  prefix: string;
}
