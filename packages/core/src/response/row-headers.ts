import type { RowSink } from '../postgres/port.ts';
import type { HeaderList } from '../http/response.ts';
import { checked } from './response-headers.ts';
import { fieldsOf } from './rows.ts';

/** The row of a command's head, whose values are response headers. */
export class HeadRow implements RowSink {
  readonly #names: readonly string[];
  #values: readonly (string | null)[] = [];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    this.#values = fieldsOf(chunk, offset, fields).map((field) =>
      field === null ? null : Buffer.from(field).toString(),
    );
    return true;
  }

  /** @throws Problem `invalid-response-header` for what cannot be sent */
  get headers(): HeaderList {
    return this.#names.flatMap((name, index) => {
      const value = this.#values[index] ?? null;
      return value === null ? [] : [name, checked(name, value)];
    });
  }
}
