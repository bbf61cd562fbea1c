/** `pgscout --diff <other schema> [name;…]`: the statements that give a database the schema of another one. */
import type { CommandContext } from '../command/command-context.ts';
import { UsageError } from '../process/errors.ts';
import { definitionOptions } from '../ddl/definition-text.ts';
import { splitNames } from '../ddl/select-objects.ts';
import { printJson } from '../output/print-json.ts';
import { writeFolder } from '../output/folder-output.ts';
import { findingsCode, outputFolder } from '../command/options.ts';
import { joinChanges } from './change.ts';
import { diffText, equalText, type Sides, toJson } from './diff-text.ts';
import { onlineFiles, onlineJson, onlineText } from './online-text.ts';
import { type Plan, planChanges } from './plan.ts';
import { selectChanges } from './select-changes.ts';
import { readSides, versionNotes } from './read-sides.ts';

/** Prints the changes, or a message on the standard error when there are none. */
export async function runDiff(context: CommandContext): Promise<number> {
  const { process, operands, options } = context;
  const [other, ...texts] = operands;
  if (other === undefined)
    throw new UsageError('--diff: needs another schema, as in --diff=production or --diff schema.sql');
  const names = splitNames(texts);
  const sides = await readSides(context, other);
  const [current, wanted] = sides;
  const { notes, ...selection } = selectChanges([current.schema, wanted.schema], names, options);
  const planned = planChanges({
    current: current.schema,
    wanted: wanted.schema,
    options: definitionOptions(options),
    ...selection,
  });
  const plan = { ...planned, changes: [...joinChanges(current.renames), ...planned.changes] };
  for (const note of [...versionNotes(sides), ...notes]) process.stderr.write(`note: ${note}\n`);
  await writePlan(context, plan, { from: current, to: wanted });
  if (plan.changes.length === 0) process.stderr.write(equalText(plan));
  return options.has('exit-code') && plan.changes.length > 0 ? findingsCode : 0;
}

async function writePlan({ process, options }: CommandContext, plan: Plan, sides: Sides): Promise<void> {
  const isOnline = options.has('online');
  if (options.has('json')) {
    const { version } = sides.from.schema;
    printJson(process, isOnline ? onlineJson(plan, sides) : plan.changes.map((change) => toJson(change, version)));
    return;
  }
  if (plan.changes.length === 0) return;
  if (!isOnline) {
    process.stdout.write(diffText(plan, sides));
    return;
  }
  const files = onlineFiles(plan, sides);
  const folder = outputFolder(options);
  if (folder === null) process.stdout.write(onlineText(files));
  else await writeFolder(folder, files, process);
}
