/** Log lines and requests in the database, by a command for each. */
import { type BatchCommand, type BatchCommandOptions, openBatchCommand } from '@pgway/core/internal';
import type { BatchSink } from './batch-queue.ts';

/** The values of a row: the parameters of the command. */
export type Row = readonly (string | null)[];

/** Runs a command for each row. Rows wait in the queue until `open`. */
export class LogDatabase implements BatchSink<Row> {
  #command: BatchCommand | null = null;
  #resolve!: (command: BatchCommand | null) => void;
  readonly #opened = new Promise<BatchCommand | null>((resolve) => (this.#resolve = resolve));

  /** @throws StartError for a command or connection that can never work */
  open(options: BatchCommandOptions): void {
    this.#command = openBatchCommand(options);
    this.#resolve(this.#command);
  }

  async write(rows: readonly Row[]): Promise<number> {
    const command = await this.#opened;
    return command === null ? rows.length : command.run(rows);
  }

  /** The start has failed before `open`: rows are lost. */
  abandon(): void {
    this.#resolve(null);
  }

  async close(): Promise<void> {
    await this.#command?.close();
  }
}

export function sizeOfRow(row: Row): number {
  return row.reduce((size, value) => size + (value?.length ?? 0), 0);
}

/** An escaped NUL, behind an even number of backslashes. */
const escapedNul = /(?<=(?:^|[^\\])(?:\\\\)*)\\u0000/g;

/** Replaces characters that PostgreSQL takes neither in `jsonb` nor in text: NUL. */
export function storableJson(line: string): string {
  return line.trimEnd().replaceAll(escapedNul, String.raw`\ufffd`);
}

export function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}
