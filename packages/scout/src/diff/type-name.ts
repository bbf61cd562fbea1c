/** Names of types, and which of them have room for the values of others. */
export interface TypeName {
  /** Without length and precision. */
  readonly base: string;
  readonly modifiers: readonly number[];
  readonly dimensions: string;
}

export function parseType(text: string): TypeName {
  const dimensions = /(?:\[\])*$/.exec(text)![0];
  const element = text.slice(0, text.length - dimensions.length);
  if (element.includes('"')) return { base: element, modifiers: [], dimensions };
  const modifiers = /\(([\d, -]+)\)/.exec(element)?.[1]?.split(',').map(Number) ?? [];
  return { base: element.replace(/\([\d, -]+\)/, ''), modifiers, dimensions };
}

const texts: readonly string[] = ['text', 'character varying', 'character', 'name', '"char"'];
export const isText = (base: string): boolean => texts.includes(base);

/** Each type has room for the values of those before it. */
const widenings: readonly (readonly string[])[] = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['smallint', 'integer', 'double precision'],
  ['smallint', 'real', 'double precision'],
  ['date', 'timestamp without time zone', 'timestamp with time zone'],
  ['character varying', 'text'],
  ['bit', 'bit varying'],
  ['cidr', 'inet'],
  ['jsonb', 'json'],
  ['boolean', 'integer'],
];

export function isWidening(from: TypeName, to: TypeName): boolean {
  const isUnlimited = to.base === 'text' || (to.base === 'character varying' && to.modifiers.length === 0);
  if (isUnlimited && (to.dimensions === '' || to.dimensions === from.dimensions)) return true;
  if (from.dimensions !== to.dimensions) return false;
  if (from.base === to.base) return hasRoom(from, to);
  const isWider = widenings.some((list) => {
    const [left, right] = [list.indexOf(from.base), list.indexOf(to.base)];
    return left !== -1 && left < right;
  });
  return isWider && to.modifiers.length === 0;
}

export function hasRoom({ base, modifiers: before }: TypeName, { modifiers: after }: TypeName): boolean {
  if (after.length === 0) return true;
  if (before.length === 0) return false;
  const [size = 0, scale = 0] = before;
  const [newSize = 0, newScale = 0] = after;
  return base === 'numeric' ? newScale >= scale && newSize - newScale >= size - scale : newSize >= size;
}
