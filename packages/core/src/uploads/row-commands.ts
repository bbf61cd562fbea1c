import { tokenizeSql } from '../catalog/tokenize-sql.ts';
import type { UploadTransaction } from '../ports/upload-handler.ts';
import { DatabaseError, LocatedError, type RowSink, type Statement, type Step } from '../postgres/port.ts';

/** `$1` to `$4`: row number, fields, result of the previous row, metadata of the file. */
const maxParameters = 4;
const fieldsParameter = 2;
const previousParameter = 3;

/** Type OIDs, which never change. */
const oids = { inferred: 0, text: 25, textArray: 1009, record: 2249, recordArray: 2287, void: 2278 };

/** Rows of one network round trip. */
const maxBatchRows = 200;
const maxBatchBytes = 64 * 1024;
/** Batches on their way: PostgreSQL runs one while the next one arrives and the gateway reads a third one. */
const maxBatches = 3;
/** The largest part of a row beside its fields and metadata. */
const rowOverhead = 64;

/** Returns what the option for the command of a row takes; null if it takes this text. */
export function checkRowCommand(sql: string): string | null {
  if (tokenizeSql(sql).length === 0) return 'takes an SQL command, such as select process_row($1, $2)';
  const isUnknown = parameterNumbers(sql).some((number) => number < 1 || number > maxParameters);
  return isUnknown
    ? 'takes an SQL command with no parameters but $1 (number), $2 (fields), $3 (previous result) and $4 (metadata)'
    : null;
}

function parameterNumbers(sql: string): readonly number[] {
  return tokenizeSql(sql).flatMap(({ kind, text }) => (kind === 'parameter' ? [Number(text.slice(1))] : []));
}

export interface RowCommandOptions {
  /** A command that `checkRowCommand` accepts. */
  readonly sql: string;
  /** `json`: `$2` is the text of a JSON value. `array`: `$2` is a literal of type `text[]`. */
  readonly fields: 'array' | 'json';
  /** The JSON object for `$4`. */
  readonly metadata: string;
  /** The members of the response that name the file of a failing row: `file`, `sheet`. */
  readonly location: Readonly<Record<string, string>>;
}

interface Row {
  readonly number: number;
  readonly values: readonly (string | null)[];
}

/** Statement names are unique in this process. */
let lastName = 0;

/**
 * Runs a command for each row of a file, in the transaction of the upload. Rows are pipelined, unless the command takes the result of the
 * previous row (`$3`).
 */
export class RowCommands {
  readonly #transaction: UploadTransaction;
  readonly #options: RowCommandOptions;
  /** The number of parameters, including those that the command leaves out. */
  readonly #parameters: number;
  readonly #isSequential: boolean;
  /** For the first row: its result has type OIDs. */
  readonly #unnamed: Statement;
  readonly #named: Statement;
  #rows: Row[] = [];
  #bytes = 0;
  #batches = 0;
  readonly #running: Promise<void>[] = [];
  #failure: Error | null = null;
  #result = new LastResult();
  /** The type OID of the result; null: the command has none. */
  #type: number | null = null;
  #lastNumber = 0;

  constructor(transaction: UploadTransaction, options: RowCommandOptions) {
    this.#transaction = transaction;
    this.#options = options;
    const { sql, fields } = options;
    const types = rowCommandTypes(sql, fields);
    this.#parameters = types.length;
    this.#isSequential = parameterNumbers(sql).includes(previousParameter);
    this.#unnamed = { name: '', sql, types };
    this.#named = { name: `pgway_row_${++lastName}`, sql, types, isTemporary: true };
  }

  /**
   * Adds a row. Resolves when the next one can be added.
   * @param fields in the format of `RowCommandOptions.fields`
   * @throws LocatedError for this row or an earlier one, and as `UploadTransaction.run`
   */
  async add(number: number, fields: string): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const { metadata } = this.#options;
    const previous = this.#isSequential ? this.#result.textOf(this.#type) : null;
    this.#rows.push({ number, values: [String(number), fields, previous, metadata].slice(0, this.#parameters) });
    this.#bytes += rowOverhead + fields.length + (this.#parameters === maxParameters ? metadata.length : 0);
    const isFirst = this.#batches === 0;
    if (!isFirst && !this.#isSequential && this.#rows.length < maxBatchRows && this.#bytes < maxBatchBytes) return;
    this.#send();
    await this.#wait(this.#isSequential ? 0 : maxBatches - 1);
  }

  /**
   * Waits for all rows, and returns the last result as JSON.
   * @throws as `add`
   */
  async finish(): Promise<string> {
    if (this.#rows.length > 0) this.#send();
    await this.#wait(0);
    const value = this.#result.textOf(this.#type);
    return value === null ? 'null' : this.#toJson(value, this.#type!);
  }

  /** Waits until at most this number of batches runs. */
  async #wait(most: number): Promise<void> {
    while (this.#running.length > most) await this.#running.shift();
  }

  #send(): void {
    const rows = this.#rows;
    const result = new LastResult();
    const statement = this.#batches++ === 0 ? this.#unnamed : this.#named;
    const last = rows.length - 1;
    const steps = rows.map(({ values }, index): Step =>
      index === last ? { statement, values, rows: result } : { statement, values },
    );
    this.#lastNumber = rows[last]!.number;
    this.#rows = [];
    this.#bytes = 0;
    const batch = this.#run(
      steps,
      rows.map(({ number }) => number),
    ).then(() => {
      this.#result = result;
      this.#type ??= result.type;
    });
    batch.catch((error: Error) => (this.#failure ??= error));
    this.#running.push(batch);
  }

  /** @param numbers the row of each step */
  async #run(steps: readonly Step[], numbers: readonly number[]): Promise<void> {
    try {
      await this.#transaction.run(steps);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const row = numbers[error.step] ?? this.#lastNumber;
      throw new LocatedError(error.with({ step: -1, phase: 'execute' }), { ...this.#options.location, row });
    }
  }

  /** Converts a value as PostgreSQL does: only its `to_json` knows the form of every type. */
  async #toJson(value: string, type: number): Promise<string> {
    // PostgreSQL cannot read the text of an anonymous row.
    const isRecord = type === oids.record || type === oids.recordArray;
    const statement = { name: '', sql: 'select pg_catalog.to_json($1)', types: [isRecord ? oids.text : type] };
    const rows = new LastResult();
    await this.#run([{ statement, values: [value], rows }], [this.#lastNumber]);
    return rows.value ?? 'null';
  }
}

/** Returns the type OIDs of `$1` to the last parameter of the command; 0 where PostgreSQL infers the type. */
export function rowCommandTypes(sql: string, fields: RowCommandOptions['fields']): readonly number[] {
  const numbers = parameterNumbers(sql);
  return Array.from({ length: Math.max(0, ...numbers) }, (_, index) =>
    parameterType(index + 1, fields, numbers.includes(index + 1)),
  );
}

/** PostgreSQL infers the types of parameters, except of those that the command leaves out. */
function parameterType(parameter: number, fields: RowCommandOptions['fields'], isUsed: boolean): number {
  if (!isUsed) return oids.text;
  // It cannot infer the type in `$2[1]` or `unnest($2)`.
  return parameter === fieldsParameter && fields === 'array' ? oids.textArray : oids.inferred;
}

/** Receives the first column of the last row of a statement. */
class LastResult implements RowSink {
  value: string | null = null;
  type: number | null = null;

  /** Returns the value; null for a result of type void, whose text is empty. */
  textOf(type: number | null): string | null {
    return type === oids.void || type === null ? null : this.value;
  }

  columns(types: readonly number[]): void {
    this.type = types[0] ?? null;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const length = fields === 0 ? -1 : bytes.readInt32BE(offset);
    this.value = length === -1 ? null : bytes.toString('utf8', offset + 4, offset + 4 + length);
    return true;
  }
}
