/** `pgscout --search <expression>`: the lines of definitions that contain the expression, or the definitions. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { type DatabaseObject, objectLine, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { type Definition, readDefinitions } from '../ddl/read-definitions.ts';
import { definitionText, statementsText } from '../ddl/definition-text.ts';
import { highlight, textExpression } from '../output/highlight.ts';
import { printJson } from '../output/print-json.ts';

/** A line of a definition. */
interface Line {
  /** From 1, in the statements of the object. */
  readonly number: number;
  readonly text: string;
}

interface Finding {
  readonly object: DatabaseObject;
  readonly statements: readonly string[];
  readonly lines: readonly Line[];
}

/** Prints the objects with a match, and the lines, or all of their definitions with `--full`. Owners are left out: their names would match in each definition. */
export async function runSearch({
  process,
  operands,
  options,
  progress,
  withConnection,
}: CommandContext): Promise<number> {
  const text = operands.join(' ');
  const expression = options.has('regex') ? parseExpression(text) : textExpression(text);
  const definitions = await withConnection(({ client }) =>
    inSnapshot(client, async () =>
      readDefinitions(client, await readObjects(client, progress), { hasOwners: false, hasGrants: true }, progress),
    ),
  );
  const findings = findLines(definitions, expression);
  if (options.has('json')) {
    printJson(
      process,
      findings.map(({ object: { kind, schema, name, qualifiedName }, statements, lines }) => ({
        kind,
        schema,
        name,
        qualifiedName,
        ...(options.has('full') ? { statements } : {}),
        lines,
      })),
    );
  } else {
    const format = options.has('full') ? definitionOf : findingText;
    process.stdout.write(findings.map((finding) => format(finding, expression, process.hasColors)).join('\n'));
  }
  if (findings.length > 0) return 0;
  throw new CommandError(`no definition contains ${JSON.stringify(text)}`);
}

function parseExpression(text: string): RegExp {
  try {
    return new RegExp(text, 'iu');
  } catch (error) {
    throw new UsageError(`--search: ${(error as Error).message}`);
  }
}

/** The definition of an object can have several places; its lines are numbered through. */
function findLines(definitions: readonly Definition[], expression: RegExp): readonly Finding[] {
  const statements = new Map<DatabaseObject, string[]>();
  for (const definition of definitions) {
    statements.set(definition.object, [...(statements.get(definition.object) ?? []), ...definition.statements]);
  }
  return [...statements].flatMap(([object, all]) => {
    const lines = statementsText(all)
      .split('\n')
      .map((text, index) => ({ number: index + 1, text }))
      .filter(({ text }) => text !== '' && expression.test(text));
    return lines.length === 0 ? [] : [{ object, statements: all, lines }];
  });
}

/** Returns the definition as of `--ddl`, with its matches highlighted. */
function definitionOf({ object, statements }: Finding, expression: RegExp, hasColors: boolean): string {
  const [header, ...lines] = definitionText([{ object, statements }]).split('\n');
  return [header, ...lines.map((line) => highlight(line, expression, hasColors))].join('\n');
}

function findingText({ object, lines }: Finding, expression: RegExp, hasColors: boolean): string {
  const width = String(lines.at(-1)!.number).length;
  const rows = lines.map(
    ({ number, text }) => `${String(number).padStart(width + 2)}: ${highlight(text, expression, hasColors)}\n`,
  );
  return `-- ${escapeControlCharacters(objectLine(object))}\n${rows.join('')}`;
}
