import type { UploadHandler } from '../ports/upload-handler.ts';
import { Problem } from '../http/problem.ts';
import type { Step } from '../postgres/port.ts';

/** Opens a large object for writing (PostgreSQL manual, "Client Interfaces"): `INV_WRITE` is 0x20000. */
const openSql =
  'select object.oid, pg_catalog.lo_open(object.oid, 131072) from pg_catalog.lo_create($1::pg_catalog.oid) as object(oid)';
const writeStatement = {
  name: 'pgway_lowrite',
  sql: 'select pg_catalog.lowrite($1, $2)',
  types: [23, 17],
  binary: [false, true],
};
const maxOid = 4_294_967_295;

/** Creates the handler that stores each file as a large object, in the transaction of the call. The metadata has its `oid`. */
export function largeObjectHandler(): UploadHandler {
  return {
    options: {
      oid: {
        type: 'integer',
        description: 'The OID of the large object to create. Without it, PostgreSQL selects one.',
        default: null,
        min: 1,
        max: maxOid,
      },
    },
    refusedMembers: { lastMembers: { oid: 'null' } },
    store: async (file, { options, transaction: begin }) => {
      const requested = (options['oid'] ?? 0) as number;
      if (requested > maxOid) throw new Problem('invalid-parameter', { detail: `The oid ${requested} is not an OID.` });
      const transaction = await begin();
      const [row] = await transaction.query(openSql, [String(requested)]);
      const [oid, descriptor] = row as readonly [string, string];
      const write = (bytes: Uint8Array): Step => ({ statement: writeStatement, values: [descriptor, bytes] });
      // One write is on its way while the next piece arrives.
      let pending: Promise<void> = Promise.resolve();
      for await (const piece of pieces(file.content, options['buffer_size'] as number)) {
        await pending;
        pending = transaction.run([write(piece)]);
        pending.catch(() => undefined);
      }
      await pending;
      await transaction.query('select pg_catalog.lo_close($1::integer)', [descriptor]);
      return { status: 'Ok', lastMembers: { oid } };
    },
  };
}

/**
 * Joins chunks to pieces of `size` bytes; the last one is smaller. A piece is valid until the piece after the next one: its memory is
 * used again, because the garbage collection of large pieces would delay other requests.
 */
async function* pieces(content: AsyncIterable<Uint8Array>, size: number): AsyncIterable<Uint8Array> {
  let [piece, other] = [Buffer.allocUnsafeSlow(size), Buffer.alloc(0)];
  let length = 0;
  for await (const chunk of content) {
    for (let start = 0; start < chunk.length;) {
      const end = Math.min(chunk.length, start + size - length);
      piece.set(chunk.subarray(start, end), length);
      length += end - start;
      start = end;
      if (length < size) continue;
      yield piece;
      [piece, other] = [other.length === 0 ? Buffer.allocUnsafeSlow(size) : other, piece];
      length = 0;
    }
  }
  if (length > 0) yield piece.subarray(0, length);
}
