import type { RowSink } from './port.ts';

/** Collects rows as text, for the few statements whose result the gateway reads itself. */
export function textRows(): RowSink & { readonly rows: (string | null)[][] } {
  const rows: (string | null)[][] = [];
  return {
    rows,
    row(chunk, offset, fields): boolean {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const row: (string | null)[] = [];
      let position = offset;
      for (let field = 0; field < fields; field++) {
        const length = bytes.readInt32BE(position);
        position += 4;
        row.push(length === -1 ? null : bytes.toString('utf8', position, position + length));
        if (length > 0) position += length;
      }
      rows.push(row);
      return true;
    },
  };
}
