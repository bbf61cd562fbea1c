/** The fields of an ErrorResponse or NoticeResponse. PostgreSQL manual, "Error and Notice Message Fields". */
export interface Diagnostics {
  readonly severity: string;
  /** SQLSTATE, five characters. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: string;
  readonly where?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly dataType?: string;
  readonly constraint?: string;
  readonly file?: string;
  readonly line?: string;
  readonly routine?: string;
}

export type Notice = Diagnostics;
