/** The event log of the processes of one server: one order and common ids, so that a client may reconnect to any of them. */

/** Why a subscriber may have missed events. */
export type GapReason = 'connection-lost' | 'too-large' | 'too-long-away';

/** An event of a stream, or a gap. */
export interface LogEntry {
  /** Increases with each entry of the server. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The path of the stream. */
  readonly path: string;
  readonly content: LogContent;
}

export type LogContent = { readonly event: string } | { readonly gap: GapReason };

/** The entries of a log that are kept. */
export interface LogSnapshot {
  /** An id before all of this log. Ids of another log, as of another start of the server, are unknown. */
  readonly firstId: number;
  readonly lastId: number;
  /** The last evicted id of each path. */
  readonly floors: readonly (readonly [path: string, id: number])[];
  readonly entries: readonly LogEntry[];
}

export interface LogListener {
  /** Receives the state at the beginning, and again after entries were lost on their way. */
  readonly restore: (snapshot: LogSnapshot) => void;
  readonly receive: (entry: LogEntry) => void;
}

export interface EventLog {
  /**
   * Adds an entry without waiting. All processes receive it, this one included.
   * @param isNotification whether all processes have received the notification that it has, and add it
   */
  append(path: string, content: LogContent, isNotification: boolean): void;
  close(): void;
}
