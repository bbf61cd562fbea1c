import { type ClientRequest, get } from 'node:http';

/** Where streams are, and who reads them. */
export interface StreamTarget {
  /** Returns the port of the server that runs now. */
  readonly port: () => number;
  readonly path: string;
  readonly token: string;
  readonly tenant: number;
}

/** The rows of a subscriber after everything up to an id. */
export interface Checkpoint {
  readonly id: string;
  readonly rows: ReadonlyMap<string, string>;
}

/** Receives the faults that a follower finds. */
export interface FollowerEvents {
  /** A row of another tenant, or a change that does not fit the rows before it. */
  violation(kind: 'sight' | 'order', text: string): void;
}

const reconnectMs = 150;
const maxCheckpoints = 400;
const requestTimeoutMs = 20_000;

/** Opens a stream, and calls back with its blocks until it ends. Returns a function that closes it. */
function openStream(
  { port, path, token }: StreamTarget,
  lastId: string,
  { block, end }: { readonly block: (text: string) => void; readonly end: (status: number | null) => void },
): () => void {
  let text = '';
  let hasEnded = false;
  const finish = (status: number | null): void => {
    if (!hasEnded) end(status);
    hasEnded = true;
  };
  const headers = { authorization: `Bearer ${token}`, ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
  const outgoing: ClientRequest = get(
    { host: '127.0.0.1', port: port(), path, agent: false, headers, timeout: requestTimeoutMs },
    (response) => {
      response.setEncoding('utf8');
      response.on('error', () => undefined);
      response.on('close', () => finish(response.statusCode ?? null));
      if (response.statusCode !== 200) return void response.resume();
      response.on('data', (chunk: string) => {
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop()!;
        for (const one of blocks) if (!hasEnded) block(one);
      });
    },
  );
  // Heartbeats arrive each second.
  outgoing.on('timeout', () => outgoing.destroy());
  outgoing.on('error', () => finish(null));
  return () => {
    hasEnded = true;
    outgoing.destroy();
  };
}

function idOf(block: string): string {
  return /^id: (.*)$/m.exec(block)?.[1] ?? '';
}

function keyOf(json: string): string {
  return /"id":(\d+)/.exec(json)![1]!;
}

/** Returns the last characters of an id, which those of one server share. */
export function serverOf(id: string): string {
  return id.slice(-8);
}

/** A subscriber that applies changes to its rows, and connects again with its last id. */
export class ChangeFollower {
  readonly target: StreamTarget;
  readonly rows: Map<string, string> = new Map();
  /** In the order of their ids. */
  #checkpoints: Checkpoint[] = [];
  /** The last id that was received, of an event or a comment. */
  lastId = '';
  events = 0;
  gaps = 0;
  connections = 0;
  /** The numbers of responses that are not streams, by status; null: no response. */
  readonly refusals: Map<string, number> = new Map();
  readonly #events: FollowerEvents;
  #close: () => void = () => undefined;
  #isClosed = false;

  constructor(target: StreamTarget, events: FollowerEvents) {
    this.target = target;
    this.#events = events;
    this.#connect();
  }

  /** Returns the rows after everything up to an id of the same server; null: they are not kept. */
  rowsAt(id: string): ReadonlyMap<string, string> | null {
    const known = this.#checkpoints.findLast(
      (checkpoint) => serverOf(checkpoint.id) === serverOf(id) && checkpoint.id <= id,
    );
    return known?.rows ?? null;
  }

  close(): void {
    this.#isClosed = true;
    this.#close();
  }

  #connect(): void {
    if (this.#isClosed) return;
    this.connections++;
    if (this.lastId === '') this.rows.clear();
    this.#close = openStream(this.target, this.lastId, {
      block: (block) => this.#handle(block),
      end: (status) => {
        if (status !== 200) this.refusals.set(String(status), (this.refusals.get(String(status)) ?? 0) + 1);
        setTimeout(() => this.#connect(), reconnectMs).unref();
      },
    });
  }

  #handle(block: string): void {
    if (block === ': cut') return this.#keep();
    const id = idOf(block);
    if (id !== '') this.lastId = id;
    if (block.startsWith(':')) return id === '' ? undefined : this.#keep();
    const kind = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (kind !== undefined && data !== undefined) this.#handleEvent(kind, data);
  }

  #handleEvent(kind: string, data: string): void {
    if (kind === 'gap') this.gaps++;
    if (kind === 'gap' || kind === 'reset') this.#checkpoints = [];
    if (kind === 'reset' || kind === 'truncate') this.rows.clear();
    const { record, old } = JSON.parse(data) as { readonly record?: object; readonly old?: object };
    if (record !== undefined || old !== undefined) this.#apply(kind, record, old);
  }

  #apply(kind: string, record: object | undefined, old: object | undefined): void {
    const json = JSON.stringify(record ?? old);
    const key = keyOf(json);
    for (const row of [record, old]) {
      const tenant = (row as { readonly tenant?: number } | undefined)?.tenant;
      if (tenant !== undefined && tenant !== this.target.tenant)
        this.#events.violation('sight', `${kind} of tenant ${tenant} at a caller of ${this.target.tenant}`);
    }
    if (kind !== 'row') {
      this.events++;
      if (this.rows.has(key) === (kind === 'insert'))
        this.#events.violation('order', `${kind} ${json} at ${this.lastId}`);
    }
    if (record === undefined) this.rows.delete(key);
    else this.rows.set(key, json);
  }

  #keep(): void {
    this.#checkpoints.push({ id: this.lastId, rows: new Map(this.rows) });
    if (this.#checkpoints.length > maxCheckpoints) this.#checkpoints.shift();
  }
}

/** Reads the rows of a snapshot with its id; null: the stream has ended before. */
export function readSnapshot(target: StreamTarget): Promise<Checkpoint | null> {
  return new Promise((resolve) => {
    const rows = new Map<string, string>();
    const finish = (checkpoint: Checkpoint | null): void => {
      clearTimeout(timer);
      close();
      resolve(checkpoint);
    };
    const close = openStream(target, '', {
      block: (block) => {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (/^event: row$/m.test(block) && data !== undefined) {
          const json = JSON.stringify((JSON.parse(data) as { readonly record: object }).record);
          rows.set(keyOf(json), json);
        } else if (block.startsWith(':') && idOf(block) !== '') finish({ id: idOf(block), rows });
        // A gap before the end of the rows.
        else if (block.startsWith('event:')) finish(null);
      },
      end: () => finish(null),
    });
    const timer = setTimeout(() => finish(null), requestTimeoutMs);
  });
}

/** Returns the first difference between two sets of rows; null: they are equal. */
export function findDifference(rows: ReadonlyMap<string, string>, own: ReadonlyMap<string, string>): string | null {
  for (const [key, row] of own) if (rows.get(key) !== row) return `${rows.get(key) ?? 'no row'} in place of ${row}`;
  for (const [key, row] of rows) if (!own.has(key)) return `${row} in place of no row ${key}`;
  return null;
}
