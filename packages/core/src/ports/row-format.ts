import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { DocumentFormat } from '../endpoints/row-formats.ts';

/** Receives the bytes of a document. It copies them: the caller may use their memory again. */
export interface ByteOutput {
  append(bytes: Uint8Array): void;
}

/** The document of one response. Its methods are synchronous, and write to `out` only during the call. */
export interface RowDocument {
  /**
   * Adds a row of values in PostgreSQL's text format; null for NULL. Arrays and composite values are JSON.
   * Their memory is used again after the call.
   * @throws Problem for a row that the format cannot contain
   */
  row(out: ByteOutput, values: readonly (Uint8Array | null)[]): void;
  /** Completes the document, which may have no rows. Called once, after the last row. */
  end(out: ByteOutput): void;
}

/** A format of rows as a document that browsers save as a file. Made once, and used by all endpoints. */
export interface RowFormat extends DocumentFormat {
  /** The extension of the file name: `.xlsx`. */
  readonly extension: string;
  /**
   * Returns a function that begins the document of a response. Called once for each endpoint that a client asks for a document.
   * @param columns their `key` is the heading
   */
  compile(columns: readonly ResultColumn[]): (title: string) => RowDocument;
}
