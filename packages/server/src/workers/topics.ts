/** The topics of the messages between the primary process and its workers, with the types of their data. */
import type { LogContent, LogEntry, LoginAttempt, LoginOutcome, RateLimitPolicy, StoredKey } from '@pgway/core';
import type {
  TableName,
  ChangeEnd,
  ChangeMessage,
  ChangeRequest,
  DatabaseError,
  TableReport,
} from '@pgway/core/internal';
import type { LoadedConfiguration } from '../config/load.ts';
import type { ListenAddress } from '../http/listener.ts';

/** The questions of workers to the primary. */
export const toPrimary = {
  /** The worker receives messages from now on; earlier ones are lost. */
  online: 'online',
  readKeys: 'keys.read',
  writeKey: 'keys.write',
  keyWarning: 'keys.warning',
  consumeLogin: 'login.consume',
  completeLogins: 'logins.complete',
  consumeHash: 'hash.consume',
  endedSessions: 'sessions.ended',
  endSessions: 'sessions.end',
  useRefreshToken: 'session.refresh',
  acquireRateLimit: 'rate-limit.acquire',
  releaseRateLimits: 'rate-limits.release',
  invalidateCache: 'cache.invalidate',
  writeLogFile: 'log.file',
  writeConsole: 'log.console',
  readMetrics: 'metrics.read',
  publish: 'broadcast.publish',
  openLog: 'events.open',
  appendEntry: 'events.append',
  closeLog: 'events.close',
  subscribeChanges: 'changes.subscribe',
  cancelChanges: 'changes.cancel',
  watchTables: 'changes.watch',
  unwatchTables: 'changes.unwatch',
  readChangeStatistics: 'changes.statistics',
  listen: 'listen',
  beginListening: 'listen.begin',
  endListening: 'listen.end',
} as const;

/** The questions and notifications of the primary to workers. */
export const toWorker = {
  start: 'start',
  announce: 'announce',
  ping: 'ping',
  state: 'state',
  retire: 'retire',
  stop: 'stop',
  metrics: 'metrics',
  sessionsEnded: 'sessions.ended',
  invalidateCache: 'cache.invalidate',
  message: 'broadcast.message',
  gap: 'broadcast.gap',
  logEntry: 'events.entry',
  logLost: 'events.lost',
  changes: 'changes.message',
  changesEnded: 'changes.ended',
  changesLost: 'changes.lost',
  changedTables: 'changes.tables',
  connection: 'connection',
} as const;

/** The input of a worker's start. It passes through the channel: arguments and files would show its secrets. */
export interface WorkerStart {
  /** The number of the worker in log lines, from 1. */
  readonly worker: number;
  /** The number of workers. */
  readonly workers: number;
  /** Whether this worker prints the messages that all workers have at their start. */
  readonly announces: boolean;
  readonly configuration: LoadedConfiguration['configuration'];
  /** Of the configured or of the embedded database. */
  readonly connectionString: string;
  readonly workingDirectory: string;
  /** Of the terminal. */
  readonly columns: number | null;
  readonly watches: boolean;
}

export type StartResult = { readonly ok: true } | StartFailure;

/** Why a worker has not started, as the program prints it. */
export interface StartFailure {
  readonly ok: false;
  readonly message: string;
  readonly exitCode: number;
  /** Whether the connection to the database may be the reason. */
  readonly isStartError: boolean;
}

export interface WorkersState {
  readonly running: number;
  readonly configured: number;
  /** Whether the worker does the tasks of one worker for all, such as polling the catalog. */
  readonly leads: boolean;
}

export interface StopOrder {
  /** Ends running requests. */
  readonly force: boolean;
}

export interface Announcement {
  readonly startupMs: number;
}

/** The address that a worker wants connections of, and the setting that has its port. */
export interface ListenQuestion extends ListenAddress {
  /** The number of connections that may wait for a worker. */
  readonly maxWaiting: number;
}

/** Where the primary process listens, or why it cannot. */
export type ListenAnswer =
  | { readonly ok: true; readonly listener: number; readonly address: string; readonly port: number }
  | { readonly ok: false; readonly message: string };

export interface SessionEnd {
  readonly session: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export interface RefreshTokenUse extends SessionEnd {
  readonly generation: number;
}

export interface CompletedLogin {
  readonly attempt: LoginAttempt;
  readonly outcome: LoginOutcome;
}

export interface RateLimitUse {
  /** The permit, unique in the worker: it can be released without an answer. */
  readonly permit: string;
  readonly policy: RateLimitPolicy;
  readonly key: string;
}

export interface PublishedMessage {
  readonly topic: string;
  readonly payload: string;
  /** Whether earlier messages were dropped. */
  readonly lost: boolean;
}

/** An entry for the event log of a topic. */
export interface AppendedEntry {
  readonly topic: string;
  readonly path: string;
  readonly content: LogContent;
  /** As in `EventLog.append`. */
  readonly isNotification: boolean;
  /** Whether earlier entries were dropped. */
  readonly lost: boolean;
}

export interface EntryMessage {
  readonly topic: string;
  readonly entry: LogEntry;
}

export interface ChangeSubscribeQuestion {
  /** The number of the subscription, unique in the worker. */
  readonly id: number;
  readonly request: ChangeRequest;
}

export type ChangeSubscribeAnswer = { readonly ok: true } | { readonly ok: false; readonly failure: ChangeFailure };

/** Why a subscription was refused, without the class of the error, which a message does not keep. */
export type ChangeFailure =
  | ({ readonly kind: 'database' } & Pick<DatabaseError, 'diagnostics' | 'step' | 'phase' | 'label'>)
  | {
      readonly kind: 'problem';
      readonly code: string;
      readonly status: number;
      readonly title: string;
      readonly detail: string | undefined;
      readonly members: Readonly<Record<string, unknown>>;
      readonly headers: readonly string[];
    }
  | { readonly kind: 'other'; readonly message: string };

/** A message for subscriptions of a worker, which share it. */
export interface RelayedChange {
  readonly ids: readonly number[];
  readonly message: ChangeMessage;
}

export interface EndedChanges {
  readonly id: number;
  readonly reason: ChangeEnd;
}

export type WrittenKey = Pick<StoredKey, 'text'> & { readonly id: string };

/** Milliseconds. */
export const answerTimeouts = {
  /** Longer than a worker may be busy with one request. */
  primary: 5000,
  /** Requests wait for it. */
  workers: 1000,
  log: 30_000,
} as const;

export interface WatchTablesQuestion {
  /** A number of the worker. */
  readonly id: number;
  readonly tables: readonly TableName[];
}

export interface RelayedTableReport {
  readonly id: number;
  readonly report: TableReport;
}
