/** Selects the objects that are compared: by names, `--exclude`, `--kinds` and `--no-drops`. */
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';
import type { CommandContext } from '../command/command-context.ts';
import { parseKinds } from '../ddl/parse-kinds.ts';
import { selectObjects, splitNames } from '../ddl/select-objects.ts';
import { CommandError } from '../process/errors.ts';
import type { Comparison } from './attributes.ts';
import type { Schema } from './read-schema.ts';

interface Selection extends Pick<Comparison, 'isSelected' | 'hasDrops'> {
  readonly notes: readonly string[];
}

/** @throws CommandError for names that no object of the schemas has; UsageError for unknown kinds */
export function selectChanges(
  schemas: readonly Schema[],
  names: readonly string[],
  options: CommandContext['options'],
): Selection {
  const all = schemas.map(({ objects }) => [...objects.values()]);
  const excludes = splitNames([options.get('exclude') ?? '']);
  const kinds = parseKinds(options.get('kinds'));
  const { missing } = selectObjects(all.flat(), names);
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
  const selected = names.length === 0 ? null : linesOf(all, names);
  const excluded = linesOf(all, excludes);
  const unknown = selectObjects(all.flat(), excludes).missing;
  return {
    isSelected: (object) => {
      const line = objectLine(object);
      if (kinds !== null && !kinds.has(object.kind)) return false;
      return !excluded.has(line) && (selected === null || selected.has(line));
    },
    hasDrops: !options.has('no-drops'),
    notes: unknown.map((text) => `--exclude: ${text}`),
  };
}

/** A table of one database must not select the triggers of the other by its oid. */
function linesOf(all: readonly (readonly DatabaseObject[])[], names: readonly string[]): ReadonlySet<string> {
  const objects = names.length === 0 ? [] : all.flatMap((part) => selectObjects(part, names).objects);
  return new Set(objects.map((object) => objectLine(object)));
}
