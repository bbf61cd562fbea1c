/** Paths of values in a configuration: keys, and indexes of lists. */

export type Path = readonly PropertyKey[];

/** Returns `gateway.includeNames[1]`. */
export function formatPath(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

/** Returns the value at the path; undefined when there is none. */
export function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null;
    return isObject && Object.hasOwn(value, part) ? (value as Record<PropertyKey, unknown>)[part] : undefined;
  }, tree);
}
