import Negotiator from 'negotiator';

/** The formats of responses with many rows. */
export type RowFormat = 'json' | 'ndjson' | 'csv';

const formats: Readonly<Record<string, RowFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'text/csv': 'csv',
};
const types = Object.keys(formats);

/** Selects the row format by `Accept`. Without an acceptable one it is JSON, not 406 (RFC 9110, section 12.5.1). */
export function negotiateRowFormat(accept: string | undefined): RowFormat {
  // Most requests want JSON: the header is parsed only if it names another format.
  if (accept === undefined || !/ndjson|csv/i.test(accept)) return 'json';
  const preferred = new Negotiator({ headers: { accept } }).mediaType(types);
  return preferred === undefined ? 'json' : (formats[preferred] ?? 'json');
}
