import type { Path } from '@pgway/core/internal';

/** Returns the value at the path; undefined when there is none. */
export function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null;
    return isObject && Object.hasOwn(value, part) ? (value as Record<PropertyKey, unknown>)[part] : undefined;
  }, tree);
}
