const item = /(?:"((?:[^"\\]|\\.)*)"|([^",()]*))(,|$)/sy;

/** The items of `(a,b,"c,d")`; null for what is no list. Within quotes a backslash takes the next character as it is. */
export function parseList(text: string): readonly string[] | null {
  if (!text.startsWith('(') || !text.endsWith(')') || text.length < 2) return null;
  const inside = text.slice(1, -1);
  if (inside === '') return [];
  const items: string[] = [];
  for (let at = 0; ;) {
    item.lastIndex = at;
    const match = item.exec(inside);
    if (match === null) return null;
    items.push(match[1] === undefined ? match[2]! : match[1].replaceAll(/\\(.)/gs, '$1'));
    if (match[3] === '') return items;
    at = item.lastIndex;
  }
}

/** The items of a PostgreSQL array of texts as `arrayLiteral` writes it: each in quotes, or NULL. */
export function parseTextArray(literal: string): readonly (string | null)[] {
  return Array.from(literal.matchAll(/"((?:[^"\\]|\\.)*)"|NULL/gs), ([, quoted]) =>
    quoted === undefined ? null : quoted.replaceAll(/\\(.)/gs, '$1'),
  );
}
