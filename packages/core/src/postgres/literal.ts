/** Quotes an element, so that it is never parsed as syntax or as NULL. PostgreSQL manual, "Array Input and Output Syntax". */
function quote(text: string): string {
  // `split` and `join` take a third of the time of `replace` where each character is escaped.
  const slashed = text.includes('\\') ? text.split('\\').join('\\\\') : text;
  return slashed.includes('"') ? `"${slashed.split('"').join('\\"')}"` : `"${slashed}"`;
}

/** Returns an array literal; its elements are quoted. */
export function arrayLiteral(elements: readonly (string | null)[], delimiter = ','): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quote(element))).join(delimiter)}}`;
}

/** Returns an array literal of array literals, which are not quoted. */
export function nestedArrayLiteral(dimensions: readonly string[], delimiter = ','): string {
  return `{${dimensions.join(delimiter)}}`;
}

/** Returns a row literal; NULL is an empty field. */
export function recordLiteral(fields: readonly (string | null)[]): string {
  return `(${fields.map((field) => (field === null ? '' : quote(field))).join(',')})`;
}

/** Returns a literal of the extension hstore. */
export function hstoreLiteral(pairs: Iterable<readonly [key: string, value: string | null]>): string {
  return Array.from(pairs, ([key, value]) => `${quote(key)}=>${value === null ? 'NULL' : quote(value)}`).join(',');
}

/** Returns an array literal as PostgreSQL writes it: with quotes only where they are needed. */
export function minimalArrayLiteral(elements: readonly string[]): string {
  const isPlain = (text: string): boolean => text !== '' && !/[{}",\\\s]/.test(text) && text.toUpperCase() !== 'NULL';
  return `{${elements.map((element) => (isPlain(element) ? element : quote(element))).join(',')}}`;
}
