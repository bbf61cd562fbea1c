/** `pgscout --list [word …]`. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { type DatabaseObject, objectLine, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { nameMatcher } from '../ddl/select-objects.ts';
import { CommandError } from '../process/errors.ts';
import { highlight, textExpression } from '../output/highlight.ts';
import { printJson } from '../output/print-json.ts';

/**
 * Prints a line for each object whose line contains every word; a word with wildcards is a whole name. Throws a CommandError when there is none.
 */
export async function runList({ process, operands, options, withConnection }: CommandContext): Promise<number> {
  const filter = operands.join(' ').trim();
  const objects = await withConnection(({ client }) => inSnapshot(client, () => readObjects(client)));
  const words = filter.split(/\s+/);
  const matches = words.map(wordMatcher);
  const found = objects.filter((object) => matches.every((isMatch) => isMatch(object)));
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
    const expression = wordsExpression(words);
    const lines = found.map((object) => `${highlight(visibleLine(object), expression, process.hasColors)}\n`);
    process.stdout.write(lines.join(''));
  }
  if (found.length > 0) return 0;
  throw new CommandError(
    filter === ''
      ? 'the database has no objects'
      : `no object ${/[*?]/.test(filter) ? 'matches' : 'contains'} ${JSON.stringify(filter)}`,
  );
}

function wordMatcher(word: string): (object: DatabaseObject) => boolean {
  if (/[*?]/.test(word)) return nameMatcher(word);
  const expression = textExpression(word);
  return (object) => expression.test(visibleLine(object));
}

/** Returns an expression for the texts of the words, between their wildcards. */
function wordsExpression(words: readonly string[]): RegExp {
  const texts = words.flatMap((word) => word.split(/[*?]/)).filter((text) => text !== '');
  return new RegExp(texts.map((text) => textExpression(text).source).join('|'), 'iu');
}

function visibleLine(object: DatabaseObject): string {
  return escapeControlCharacters(objectLine(object));
}
