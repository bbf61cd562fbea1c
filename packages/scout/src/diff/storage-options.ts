/** Changes of storage parameters (`fillfactor=70`) and of the options of foreign objects (`host=db`). */
import { optionList, quoteLiteral } from '../ddl/sql-text.ts';

type Options = readonly string[] | null;

/** Returns `SET (…)` and `RESET (…)`. */
export function parameterClauses(before: Options, after: Options, prefix: string = ''): readonly string[] {
  const changed = (after ?? []).filter((option) => !(before ?? []).includes(option));
  const names = new Set((after ?? []).map(nameOf));
  const removed = (before ?? []).map(nameOf).filter((name) => !names.has(name));
  return [
    ...(changed.length === 0 ? [] : [`SET (${optionList(changed, prefix)})`]),
    ...(removed.length === 0 ? [] : [`RESET (${removed.map((name) => `${prefix}${name}`).join(', ')})`]),
  ];
}

/** Returns `OPTIONS (ADD …, SET …, DROP …)` as list: none without a difference. */
export function foreignOptionClauses(before: Options, after: Options): readonly string[] {
  const [old, wanted] = [before, after].map(
    (options) => new Map((options ?? []).map((option) => [nameOf(option), option.slice(option.indexOf('=') + 1)])),
  ) as [Map<string, string>, Map<string, string>];
  const changes = [
    ...[...old.keys()].filter((name) => !wanted.has(name)).map((name) => `DROP ${quoteName(name)}`),
    ...[...wanted]
      .filter(([name, value]) => old.get(name) !== value)
      .map(([name, value]) => `${old.has(name) ? 'SET' : 'ADD'} ${quoteName(name)} ${quoteLiteral(value)}`),
  ];
  return changes.length === 0 ? [] : [`OPTIONS (${changes.join(', ')})`];
}

function nameOf(option: string): string {
  return option.slice(0, option.indexOf('='));
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
