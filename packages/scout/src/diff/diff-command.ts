/** `pgscout --diff <other connection>`: the statements that give a database the schema of another one. */
import type { CommandContext } from '../cli/command-context.ts';
import { UsageError } from '../cli/errors.ts';
import type { ConnectionName } from '../connection/connection-name.ts';
import { definitionOptions } from '../ddl/definition-text.ts';
import { printJson } from '../output/print-json.ts';
import { diffText, equalText, toJson } from './diff-text.ts';
import { planChanges } from './plan.ts';
import { readSchema, type Schema } from './read-schema.ts';

interface Side {
  readonly schema: Schema;
  readonly name: ConnectionName;
}

/** Prints the changes, or a message on the standard error when there are none. The exit code is 0 in both cases. */
export async function runDiff({
  process,
  operands,
  options,
  progress,
  withConnection,
}: CommandContext): Promise<number> {
  const [other, ...rest] = operands;
  if (other === undefined || rest.length > 0) {
    throw new UsageError('--diff: needs one connection, as in --diff=production');
  }
  const read = (selected?: string): Promise<Side> =>
    withConnection(async ({ client, name }) => ({ schema: await readSchema(client, progress), name }), selected);
  // One after the other: both can ask for a password.
  const current = await read();
  const wanted = await read(other);
  const plan = planChanges({
    current: current.schema,
    wanted: wanted.schema,
    options: definitionOptions(options),
  });
  if (options.has('json')) printJson(process, plan.changes.map(toJson));
  else if (plan.changes.length > 0) {
    process.stdout.write(diffText(plan, { from: current, to: wanted }));
  }
  if (plan.changes.length === 0) process.stderr.write(equalText(plan));
  return 0;
}
