/** The conversion of the values of a column to another type. */

export interface Conversion {
  /** The expression of `USING`. */
  readonly expression: string;
  /** Whether values can become shorter, less precise or another value. */
  readonly isNarrowing: boolean;
}

interface ConvertedColumn {
  /** The name of the column, quoted. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Types without a cast are converted by their text, as are those that are created again.
 * @param casts pairs of types with a cast, as `source target`
 */
export function convert({ name, from, to }: ConvertedColumn, casts: ReadonlySet<string>): Conversion {
  const [source, target] = [parseType(from), parseType(to)];
  const isSameArray = source.dimensions === target.dimensions;
  // A type with the same name is created again, except those of PostgreSQL.
  const hasCast =
    isSameArray &&
    (from !== to || isText(source.base)) &&
    (source.base === target.base ||
      isText(source.base) ||
      isText(target.base) ||
      casts.has(`${source.base} ${target.base}`));
  return {
    expression: hasCast ? `${name}::${to}` : `${name}::text::${to}`,
    isNarrowing: from !== to && !(isSameArray && isWidening(source, target)),
  };
}

interface TypeName {
  /** Without length and precision. */
  readonly base: string;
  readonly modifiers: readonly number[];
  readonly dimensions: string;
}

function parseType(text: string): TypeName {
  const dimensions = /(?:\[\])*$/.exec(text)![0];
  const element = text.slice(0, text.length - dimensions.length);
  if (element.includes('"')) return { base: element, modifiers: [], dimensions };
  const modifiers = /\(([\d, -]+)\)/.exec(element)?.[1]?.split(',').map(Number) ?? [];
  return { base: element.replace(/\([\d, -]+\)/, ''), modifiers, dimensions };
}

const texts: readonly string[] = ['text', 'character varying', 'character', 'name', '"char"'];
const isText = (base: string): boolean => texts.includes(base);

/** Each type has room for the values of those before it. */
const widenings: readonly (readonly string[])[] = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['real', 'double precision'],
  ['date', 'timestamp without time zone'],
  ['character varying', 'text'],
  ['bit', 'bit varying'],
  ['cidr', 'inet'],
];

function isWidening(from: TypeName, to: TypeName): boolean {
  if (to.base === 'text') return true;
  if (from.base === to.base) return hasRoom(from, to);
  const isWider = widenings.some((list) => {
    const [left, right] = [list.indexOf(from.base), list.indexOf(to.base)];
    return left !== -1 && left < right;
  });
  return isWider && to.modifiers.length === 0;
}

function hasRoom({ base, modifiers: before }: TypeName, { modifiers: after }: TypeName): boolean {
  if (after.length === 0) return true;
  if (before.length === 0) return false;
  const [size = 0, scale = 0] = before;
  const [newSize = 0, newScale = 0] = after;
  return base === 'numeric' ? newScale >= scale && newSize - newScale >= size - scale : newSize >= size;
}
