import { randomBytes } from 'node:crypto';
import type { ConnectionSettings } from '../connection-string.ts';
import { ConnectionLost, ConnectionSetupError } from '../port.ts';
import { PgoutputDecoder } from './pgoutput-decoder.ts';
import type { RelationDefinition, RelationKey } from './relation-definition.ts';
import { ReplicationConnection } from './replication-connection.ts';
import { allStandbysFault, includesAllStandbys } from './synchronous-standbys.ts';
import { type CollectedTransaction, TransactionCollector } from './transaction-collector.ts';

export interface ReplicationStreamOptions {
  readonly connection: ConnectionSettings;
  readonly publication: string;
  readonly maxKeys: number;
  readonly keys: readonly RelationKey[];
  /** Called after each chunk of the socket that has ended a transaction or moved the position. */
  onChanges(batch: ChangeBatch): void;
  /** Called once, also after `close`. */
  onEnd(error: Error | null): void;
}

export interface ChangeBatch {
  readonly transactions: readonly CollectedTransaction[];
  readonly definitions: readonly RelationDefinition[];
  readonly position: bigint;
  /** What the transactions take in memory, in keys. */
  readonly weight: number;
}

const feedbackIntervalMs = 1_000;
/** Milliseconds without a message after which the server is asked for one. */
const quietMs = 10_000;
/** Milliseconds without a message after which the connection is lost. A server answers within `wal_sender_timeout`, 60 s. */
const silentMs = 70_000;
/** Milliseconds within which the user of the stream has to handle what was delivered. */
const unhandledMs = 60_000;
/** Milliseconds between two questions for the position. */
const minAskMs = 1;
const maxAskMs = 20;
/** The weight of a transaction without keys. */
const transactionWeight = 4;
/** Weight of delivered transactions that are not handled yet, beyond which nothing is read. */
const minMaxUnhandled = 100_000;

/**
 * The settings of the session: texts of values that any session reads, no time limits for the slot, which waits for transactions, and
 * a time limit for this process, so that it does not hold the log when it hangs.
 */
const settingsSql = `select pg_catalog.set_config(name, value, false) from (values
  ('standard_conforming_strings', 'on'), ('datestyle', 'ISO'), ('intervalstyle', 'postgres'), ('timezone', 'UTC'), ('extra_float_digits', '1'), ('bytea_output', 'hex'),
  ('search_path', 'pg_catalog'), ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_session_timeout', '0'),
  ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0'), ('client_connection_check_interval', '1000'),
  ('wal_sender_timeout', case pg_catalog.current_setting('wal_sender_timeout') when '0' then '60s' end)
) as wanted (name, value) where value is not null
  and exists (select from pg_catalog.pg_settings s where pg_catalog.lower(s.name) operator(pg_catalog.=) wanted.name)`;

/** Reads the changes of a publication with a temporary slot. */
export class ReplicationStream {
  readonly #options: ReplicationStreamOptions;
  readonly #collector: TransactionCollector;
  readonly #decoder: PgoutputDecoder;
  readonly #maxUnhandled: number;
  #connection: ReplicationConnection | null = null;
  #timer: NodeJS.Timeout | undefined;
  #transactions: CollectedTransaction[] = [];
  #definitions = new Map<number, RelationDefinition>();
  readonly #deliveredDefinitions = new Set<number>();
  #position = 0n;
  #deliveredPosition = 0n;
  /** The position up to which the user of the stream has handled everything. */
  readonly #unhandled: { readonly weight: number; readonly position: bigint; readonly since: number }[] = [];
  #unhandledWeight = 0;
  #handledPosition = 0n;
  #weight = 0;
  #target = 0n;
  #askTimer: NodeJS.Timeout | undefined;
  #askDelay = minAskMs;
  #receivedAt = performance.now();
  #isClosed = false;

  constructor(options: ReplicationStreamOptions) {
    this.#options = options;
    this.#maxUnhandled = Math.max(minMaxUnhandled, options.maxKeys * 2);
    this.#collector = new TransactionCollector(options.maxKeys, {
      deliver: (transaction, definitions) => this.#collect(transaction, definitions),
      skip: (commitLsn) => this.#advance(commitLsn),
    });
    this.#decoder = new PgoutputDecoder(this.#collector, options.keys);
  }

  /** Creates the slot and starts to read. Returns its name, the position at which it begins, and the size of pages of the log. */
  async open(): Promise<{ readonly slot: string; readonly position: bigint; readonly walPageSize: number }> {
    const connection = await ReplicationConnection.open(this.#options.connection, {
      data: (chunk, start, end) => this.#decoder.decode(chunk, start, end),
      keepalive: (position, mustReply) => this.#handleKeepalive(position, mustReply),
      chunkEnd: () => this.#flush(),
      ended: (error) => this.#end(error),
    });
    this.#connection = connection;
    if (this.#isClosed) throw new ConnectionLost('the reader was closed');
    const { publication } = this.#options;
    await connection.query(settingsSql);
    const [[version, pageSize, standbys, isPublished] = []] = await connection.query(
      `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('wal_block_size'),
        pg_catalog.current_setting('synchronous_standby_names'),
        exists (select from pg_catalog.pg_publication where pubname operator(pg_catalog.=) ${quoteText(publication)})`,
    );
    if (isPublished !== 't') {
      throw new ConnectionSetupError(
        `the publication "${publication}" does not exist in the database; create it with "pgway install changes"`,
      );
    }
    if (includesAllStandbys(standbys!)) {
      const { message, remedy } = allStandbysFault(standbys!);
      throw new ConnectionSetupError(`${message}; ${remedy}`);
    }
    const slot = `pgway_changes_${randomBytes(8).toString('hex')}`;
    // The function and not the replication command, which would go on waiting after the end of this process.
    const [[lsn] = []] = await connection.query(
      `select lsn from pg_catalog.pg_create_logical_replication_slot('${slot}', 'pgoutput', true)`,
    );
    this.#position = parseLsn(lsn!);
    this.#handledPosition = this.#position;
    this.#deliveredPosition = this.#position;
    const protocol = Number(version) >= 140_000 ? `proto_version '2', streaming 'on'` : `proto_version '1'`;
    await connection.start(
      `START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${protocol}, publication_names ${quoteText(quoteName(publication))})`,
    );
    this.#receivedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), feedbackIntervalMs);
    return { slot, position: this.#position, walPageSize: Number(pageSize) };
  }

  /** Asks the server for its position until it has reached `lsn`. */
  reach(lsn: bigint): void {
    if (lsn > this.#target) this.#target = lsn;
    this.#askDelay = minAskMs;
    clearTimeout(this.#askTimer);
    this.#ask();
  }

  /** Notes that the user of the stream has handled delivered changes. */
  handled(weight: number): void {
    this.#unhandledWeight -= weight;
    const entry = this.#unhandled.shift();
    if (entry !== undefined) this.#handledPosition = entry.position;
    if (this.#unhandledWeight <= this.#maxUnhandled) this.#connection?.resume();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimers();
    await this.#connection?.close();
  }

  #collect(transaction: CollectedTransaction, definitions: readonly RelationDefinition[]): void {
    this.#transactions.push(transaction);
    this.#weight += transactionWeight + transaction.codes.length;
    this.#advance(transaction.commitLsn);
    for (const definition of definitions) {
      if (!this.#deliveredDefinitions.has(definition.serial)) this.#definitions.set(definition.serial, definition);
    }
  }

  #advance(position: bigint): void {
    if (position > this.#position) this.#position = position;
  }

  #handleKeepalive(position: bigint, mustReply: boolean): void {
    this.#advance(position);
    if (mustReply) this.#connection?.sendFeedback(this.#handledPosition, false);
  }

  #flush(): void {
    this.#receivedAt = performance.now();
    if (this.#position === this.#deliveredPosition && this.#transactions.length === 0) return;
    const batch: ChangeBatch = {
      transactions: this.#transactions,
      definitions: [...this.#definitions.values()],
      position: this.#position,
      weight: this.#weight,
    };
    for (const serial of this.#definitions.keys()) this.#deliveredDefinitions.add(serial);
    this.#unhandled.push({ weight: this.#weight, position: this.#position, since: this.#receivedAt });
    this.#unhandledWeight += this.#weight;
    this.#transactions = [];
    this.#definitions = new Map();
    this.#weight = 0;
    this.#deliveredPosition = this.#position;
    this.#options.onChanges(batch);
    if (this.#unhandledWeight > this.#maxUnhandled) this.#connection?.pause();
  }

  /** Replies with "reply requested" arrive before the records behind them are decoded: the question is repeated. */
  #ask(): void {
    if (this.#isClosed || this.#position >= this.#target) return;
    this.#connection?.sendFeedback(this.#handledPosition, true);
    this.#askTimer = setTimeout(() => this.#ask(), this.#askDelay);
    this.#askDelay = Math.min(maxAskMs, this.#askDelay * 2);
  }

  #tick(): void {
    const now = performance.now();
    const [oldest] = this.#unhandled;
    if (oldest !== undefined && now - oldest.since > unhandledMs) {
      const seconds = unhandledMs / 1000;
      this.#connection?.fail(new ConnectionLost(`the process has not handled changes for ${seconds} seconds`));
      return;
    }
    // Nothing arrives on purpose while reading is paused.
    const isPaused = this.#unhandledWeight > this.#maxUnhandled;
    if (isPaused) this.#receivedAt = now;
    const quiet = now - this.#receivedAt;
    if (quiet > silentMs) this.#connection?.fail(new ConnectionLost('the server does not answer'));
    else this.#connection?.sendFeedback(this.#handledPosition, quiet > quietMs);
  }

  #end(error: Error | null): void {
    this.#stopTimers();
    this.#isClosed = true;
    this.#options.onEnd(error);
  }

  #stopTimers(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#askTimer);
  }
}

function parseLsn(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a value for SQL and for options of replication commands, where a backslash has no meaning either. */
function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
