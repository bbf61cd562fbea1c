/** In PostgreSQL's array and record texts: always quoted, so that no element can be taken for syntax or for NULL. */
function quoted(text: string): string {
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

/** An array, or one dimension of it, whose elements are literals of their own or values to be quoted. */
export function arrayLiteral(elements: readonly (string | null)[], delimiter = ','): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quoted(element))).join(delimiter)}}`;
}

/** An array of arrays: further dimensions are written as they are. */
export function nestedArrayLiteral(dimensions: readonly string[], delimiter = ','): string {
  return `{${dimensions.join(delimiter)}}`;
}

/** A row: nothing at all between two commas is NULL. */
export function recordLiteral(fields: readonly (string | null)[]): string {
  return `(${fields.map((field) => (field === null ? '' : quoted(field))).join(',')})`;
}

/** Pairs of the extension hstore. */
export function hstoreLiteral(pairs: Iterable<readonly [key: string, value: string | null]>): string {
  return Array.from(pairs, ([key, value]) => `${quoted(key)}=>${value === null ? 'NULL' : quoted(value)}`).join(',');
}

/** An array as PostgreSQL itself writes it: quotes only where they are needed. */
export function minimalArrayLiteral(elements: readonly string[]): string {
  const plain = (text: string): boolean => text !== '' && !/[{}",\\\s]/.test(text) && text.toUpperCase() !== 'NULL';
  return `{${elements.map((element) => (plain(element) ? element : quoted(element))).join(',')}}`;
}
