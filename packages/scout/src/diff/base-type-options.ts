/** The options of base types that `ALTER TYPE … SET` can change. */
const alterable: ReadonlySet<string> = new Set(['RECEIVE', 'SEND', 'TYPMOD_IN', 'TYPMOD_OUT', 'ANALYZE']);

/** Returns the list for `SET`; null when an option differs that cannot be changed in place. */
export function changedBaseOptions(before: readonly string[], after: readonly string[]): readonly string[] | null {
  const nameOf = (option: string): string => option.slice(0, `${option} =`.indexOf(' ='));
  const changed = after.filter((option) => !before.includes(option));
  const names = new Set(after.map(nameOf));
  const removed = before.map(nameOf).filter((name) => !names.has(name));
  const isAlterable = [...changed.map(nameOf), ...removed].every((name) => alterable.has(name));
  return isAlterable ? [...changed, ...removed.map((name) => `${name} = NONE`)] : null;
}
