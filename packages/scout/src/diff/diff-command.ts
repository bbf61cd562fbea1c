/** `pgscout --diff <other schema> [name;…]`: the statements that give a database the schema of another one. */
import type { CommandContext } from '../command/command-context.ts';
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { definitionOptions } from '../ddl/definition-text.ts';
import { selectObjects, splitNames } from '../ddl/select-objects.ts';
import { printJson } from '../output/print-json.ts';
import { diffText, equalText, toJson } from './diff-text.ts';
import { planChanges } from './plan.ts';
import type { Schema } from './read-schema.ts';
import { readSides, versionNote } from './read-sides.ts';

/** The exit code of `--exit-code`. 1 is a failure, and 2 a wrong command line. */
const differentCode = 3;

/** Prints the changes, or a message on the standard error when there are none. */
export async function runDiff(context: CommandContext): Promise<number> {
  const { process, operands, options } = context;
  const [other, ...texts] = operands;
  if (other === undefined)
    throw new UsageError('--diff: needs another schema, as in --diff=production or --diff schema.sql');
  const names = splitNames(texts);
  const sides = await readSides(context, other);
  const [current, wanted] = sides;
  const plan = planChanges({
    current: current.schema,
    wanted: wanted.schema,
    options: definitionOptions(options),
    isSelected: selectByName([current.schema, wanted.schema], names),
  });
  const note = versionNote(sides);
  if (note !== null) process.stderr.write(`note: ${note}\n`);
  if (options.has('json'))
    printJson(
      process,
      plan.changes.map((change) => toJson(change, current.schema.version)),
    );
  else if (plan.changes.length > 0) {
    process.stdout.write(diffText(plan, { from: current, to: wanted }));
  }
  if (plan.changes.length === 0) process.stderr.write(equalText(plan));
  return options.has('exit-code') && plan.changes.length > 0 ? differentCode : 0;
}

/**
 * Returns whether an object of one of the databases has one of the names; without names, all objects have.
 * @throws CommandError for names that no object of the databases has
 */
function selectByName(schemas: readonly Schema[], names: readonly string[]): (object: DatabaseObject) => boolean {
  if (names.length === 0) return () => true;
  const all = schemas.map(({ objects }) => [...objects.values()]);
  const { missing } = selectObjects(all.flat(), names);
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
  // A table of one database must not select the triggers of the other by its oid.
  const selected = all.flatMap((objects) => selectObjects(objects, names).objects);
  const lines = new Set(selected.map((object) => objectLine(object)));
  return (object) => lines.has(objectLine(object));
}
