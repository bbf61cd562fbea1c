import type { Endpoint, ResultColumn } from '../endpoints/endpoint.ts';
import type { RowFormat } from '../ports/row-format.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { textConverter } from './delimited.ts';
import { type ParameterValues, parseTemplate, renderTemplate } from './template.ts';
import { readFields, type RowWriter } from './rows.ts';

/** Writes the body of one response. */
export interface BodyWriter {
  readonly row: RowWriter;
  /** Writes the bytes after the last row. */
  readonly end: (out: ByteBuffer) => void;
}

/** Returns a function that begins the document of a response. */
export function documentWriter(format: RowFormat, columns: readonly ResultColumn[]): (title: string) => BodyWriter {
  const begin = format.compile(columns);
  // Booleans stay PostgreSQL's text: a document has a type for them.
  const converters = columns.map((column) => (column.type.json === 'converted' ? textConverter(column) : null));
  const converts = converters.some((convert) => convert !== null);
  return (title) => {
    const document = begin(title);
    return {
      row: (out, chunk, offset, count) => {
        const fields = readFields(chunk, offset, count);
        document.row(
          out,
          converts
            ? fields.map((field, index) => (field === null ? null : (converters[index]?.(field) ?? field)))
            : fields,
        );
      },
      end: (out) => document.end(out),
    };
  };
}

/** Returns the title of the document of a call. */
export function documentTitle({ excelSheet, name, parameters }: Endpoint, call: ParameterValues): string {
  return excelSheet === undefined ? name : renderTemplate(parseTemplate(excelSheet, parameters), call);
}
