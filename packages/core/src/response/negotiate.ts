import Negotiator from 'negotiator';

/** In what form the rows of an answer go out. */
export type RowFormat = 'json' | 'ndjson' | 'csv';

const offered: Readonly<Record<string, RowFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'text/csv': 'csv',
};
const types = Object.keys(offered);

/** JSON unless the client prefers another form of ours; a client that wants none of them gets JSON, as ever. */
export function negotiateRowFormat(accept: string | undefined): RowFormat {
  // Nearly nobody asks: the common headers are not worth a parser.
  if (accept === undefined || !/ndjson|csv/i.test(accept)) return 'json';
  const preferred = new Negotiator({ headers: { accept } }).mediaType(types);
  return preferred === undefined ? 'json' : (offered[preferred] ?? 'json');
}
