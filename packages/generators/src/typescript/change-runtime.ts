/** The texts that read streams of row changes, and keep a list of rows current. */
import { stringLiteral } from '../source-text.ts';
import { bigintShape } from './bigint-shape.ts';
import type { ClientFunction } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** Returns the function that opens the stream of changes. */
export function changesText(
  { changes, changesName, endpoint, request, response }: ClientFunction,
  options: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): readonly string[] {
  if (changes === null || response === null) return [];
  const filter = request === null ? 'object' : `Partial<${request.name}>`;
  const { result } = endpoint;
  const shown = endpoint.changes!.key.map(({ shown: name }) => name);
  const keys =
    'columns' in result ? shown.map((name) => result.columns.find((column) => column.name === name)!.key) : [];
  const shape = options.parseBigints ? bigintShape(result) : null;
  const listing = endpoint.table?.listing ?? null;
  const select = listing === null ? null : endpoint.parameters.find(({ position }) => position === listing.select)!.key;
  const own = `IChangesOptions<${response.name}, ${filter}>`;
  // Rows of a request that selects columns have a type that its caller knows.
  const overloads =
    select === null || request === null
      ? ''
      : tsOnly(`export function ${changesName}<Row extends object>(options: IChangesOptions<Row, ${filter} & { ${select}: string }>): ChangeStream<Row>;
export function ${changesName}(options?: IChangesOptions<${response.name}, Omit<${filter}, "${select}">>): ChangeStream<${response.name}>;
`);
  return [
    `/** The changes of the rows of \`GET ${endpoint.path}\`, which the caller may select. */`,
    `${overloads}export function ${changesName}(options${tsOnly(`: ${own}`)} = {})${tsOnly(`: ChangeStream<${response.name}>`)} {`,
    `  return new ChangeStream(_baseUrl + ${stringLiteral(changes)}, [${keys.map(stringLiteral).join(', ')}], options${shape === null ? '' : `, (row) => _bigints(row, ${shape})${tsOnly(` as ${response.name}`)}`});`,
    '}',
    '',
  ];
}

export function changeStreamText(tsOnly: TypeScriptOnly): string {
  return `${changeTypes(tsOnly)}/**
 * Changes of rows that the caller may select, through an \`EventStream\`: it connects again by itself, and continues after the last change.
 * Where it cannot, \`onGap\` tells that changes are missing; with \`snapshot\`, \`onReset\` and all rows follow.
 */
export class ChangeStream${tsOnly('<Row extends object>')} {
  ${tsOnly('readonly ')}events${tsOnly(': EventStream')};
  ${tsOnly('private readonly ')}_keys${tsOnly(': readonly string[]')};
  ${tsOnly('private readonly ')}_options${tsOnly(': IChangesOptions<Row>')};
  ${tsOnly('private readonly ')}_read${tsOnly(': (row: Row) => Row')};
  ${tsOnly('private readonly ')}_rows = new Map${tsOnly('<string, Row>')}();
  ${tsOnly('private ')}_hasRows = false;
  /** Whether the list has changed since the last cut; true before the first one. */
  ${tsOnly('private ')}_isDirty = true;
  /** Whether a list is ready that was not read. */
  ${tsOnly('private ')}_isReady = false;
  ${tsOnly('private ')}_error${tsOnly(': GatewayError | null')} = null;
  ${tsOnly('private ')}_wake${tsOnly(': () => void')} = () => undefined;

  constructor(url${tsOnly(': string')}, keys${tsOnly(': readonly string[]')}, options${tsOnly(': IChangesOptions<Row>')}, read${tsOnly(': (row: Row) => Row')} = (row) => row) {
    const { filter = {}, snapshot = false, headers, signal } = options;
    this._keys = keys;
    this._options = options;
    this._read = read;
    const query = _parseQuery(snapshot ? { ...filter, snapshot } : filter);
    this.events = new EventStream(url + query, { headers, signal });
    for (const type of ["row", "insert", "update", "delete", "truncate", "gap", "reset"]) {
      this.events.addEventListener(type, (event) => this._apply(JSON.parse((event${tsOnly(' as MessageEvent<string>')}).data)));
    }
    this.events.addEventListener("cut", () => this._settle());
    this.events.addEventListener("open", () => {
      // The rows of a snapshot without an id begin again.
      if (this.events.lastEventId === "" && this._hasRows) this._apply({ type: "reset" });
    });
    this.events.addEventListener("error", (event) => {
      const { problem, headers } = event${tsOnly(' as Event & { problem?: IProblem; headers?: Headers }')};
      if (problem !== undefined) {
        this._error = new GatewayError(problem, headers);
        options.onError?.(problem);
      }
      this._wake();
    });
    signal?.addEventListener("abort", () => this._wake(), { once: true });
  }

  close()${tsOnly(': void')} {
    this.events.close();
    this._wake();
  }

${listText(tsOnly)}

${applyText(tsOnly)}
}`;
}

/** Returns the methods that iterate over lists of rows. */
function listText(tsOnly: TypeScriptOnly): string {
  return `  /** The rows after each change, from the first snapshot on. Needs \`snapshot: true\`. Throws a \`GatewayError\` when the server refuses the stream. */
  async *lists()${tsOnly(': AsyncGenerator<readonly Row[], void, undefined>')} {
    if (this._options.snapshot !== true) throw new TypeError("lists() needs the option snapshot: true");
    try {
      for (;;) {
        if (this._error !== null) throw this._error;
        if (this._isReady) {
          this._isReady = false;
          yield [...this._rows.values()];
        } else if (this.events.readyState === 2) return;
        else await new Promise${tsOnly('<void>')}((resolve) => (this._wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  [Symbol.asyncIterator]()${tsOnly(': AsyncGenerator<readonly Row[], void, undefined>')} {
    return this.lists();
  }`;
}

/** Returns the methods that apply changes to the list, and call the callbacks. */
function applyText(tsOnly: TypeScriptOnly): string {
  return `  ${tsOnly('private ')}_apply(change${tsOnly(': IRowChange<Row>')})${tsOnly(': void')} {
    const { onRow, onInsert, onUpdate, onDelete, onTruncate, onGap, onReset } = this._options;
    this._isDirty ||= change.type !== "gap";
    this._isReady &&= !this._isDirty;
    const record = change.record === undefined ? undefined : this._read(change.record);
    const old = change.old === undefined ? undefined : this._read(change.old${tsOnly(' as Row')});
    const read = { ...change, ...(record === undefined ? {} : { record }), ...(old === undefined ? {} : { old }) };
    if (record !== undefined) {
      this._hasRows = true;
      if (this._options.snapshot === true) this._rows.set(this._key(record), record);
      (change.type === "row" ? onRow : change.type === "insert" ? onInsert : onUpdate)?.(record, read);
    } else if (change.type === "delete" && old !== undefined) {
      this._rows.delete(this._key(old));
      onDelete?.(old, read);
    } else if (change.type === "gap") onGap?.(change.reason ?? "");
    else {
      this._rows.clear();
      (change.type === "truncate" ? onTruncate : onReset)?.();
    }
  }

  /** All changes of a transaction have arrived, or all rows of a snapshot. */
  ${tsOnly('private ')}_settle()${tsOnly(': void')} {
    if (!this._isDirty) return;
    this._isDirty = false;
    this._isReady = true;
    this._wake();
  }

  ${tsOnly('private ')}_key(row${tsOnly(': object')})${tsOnly(': string')} {
    const values = new Map${tsOnly('<string, unknown>')}(Object.entries(row));
    return JSON.stringify(this._keys.map((key) => String(values.get(key))));
  }`;
}

function changeTypes(tsOnly: TypeScriptOnly): string {
  return tsOnly(`/** A change of a row. After a delete, \`old\` has the key, or the row where the table has \`changes old\`. */
export interface IRowChange<Row extends object> {
  type: "row" | "insert" | "update" | "delete" | "truncate" | "gap" | "reset";
  schema?: string;
  table?: string;
  commitTimestamp?: string;
  record?: Row;
  old?: Partial<Row>;
  /** Why changes are missing. */
  reason?: string;
}

/** Options of a stream of changes. */
export interface IChangesOptions<Row extends object, Filter extends object = object> extends IStreamOptions {
  /** Only rows for which the parameters of the select hold. */
  filter?: Filter | undefined;
  /** Begins with the rows that there are. */
  snapshot?: boolean | undefined;
  /** A row of the snapshot. */
  onRow?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  onInsert?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  onUpdate?: ((row: Row, change: IRowChange<Row>) => void) | undefined;
  /** Receives the key, or the whole row where the table has \`changes old\`. */
  onDelete?: ((old: Partial<Row>, change: IRowChange<Row>) => void) | undefined;
  onTruncate?: (() => void) | undefined;
  /** Changes may be missing: read again, unless the stream has a snapshot. */
  onGap?: ((reason: string) => void) | undefined;
  /** All rows follow again. */
  onReset?: (() => void) | undefined;
  /** The server refuses the stream, which has ended. */
  onError?: ((problem: IProblem) => void) | undefined;
}

`);
}
