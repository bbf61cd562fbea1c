/** `pgscout --list [filter]`. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { type DatabaseObject, objectLine, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError } from '../process/errors.ts';
import { highlight, textExpression } from '../output/highlight.ts';
import { printJson } from '../output/print-json.ts';

/** Prints a line for each object whose line contains the filter. Throws a CommandError when there is none. */
export async function runList({ process, operands, options, withConnection }: CommandContext): Promise<number> {
  const filter = operands.join(' ').trim();
  const expression = textExpression(filter);
  const objects = await withConnection(({ client }) => inSnapshot(client, () => readObjects(client)));
  const found = objects.filter((object) => expression.test(visibleLine(object)));
  if (options.has('json')) {
    printJson(
      process,
      found.map(({ kind, schema, table, name, signature, qualifiedName }) => ({
        kind,
        schema,
        table,
        name,
        signature,
        qualifiedName,
      })),
    );
  } else {
    const lines = found.map((object) => `${highlight(visibleLine(object), expression, process.hasColors)}\n`);
    process.stdout.write(lines.join(''));
  }
  if (found.length > 0) return 0;
  throw new CommandError(
    filter === '' ? 'the database has no objects' : `no object contains ${JSON.stringify(filter)}`,
  );
}

function visibleLine(object: DatabaseObject): string {
  return escapeControlCharacters(objectLine(object));
}
