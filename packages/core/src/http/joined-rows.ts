import type { ReusableMemory } from './response.ts';

/** How the parts of a body are joined. A part that is NULL is not a part: its row has the other columns of a result without parts. */
export interface JoinedRows {
  readonly open: Uint8Array;
  readonly separator: Uint8Array;
  readonly close: Uint8Array;
  /** The statement is cancelled when its rows have more bytes. */
  readonly maxBytes: number;
  /** Returns the error to respond with then. */
  tooLarge(): Error;
}

/** A body that was joined from rows. */
export interface JoinedBody {
  readonly bytes: Uint8Array;
  /** The memory behind the bytes. */
  readonly memory: ReusableMemory | null;
  /** The number of parts. */
  readonly rows: number;
}
