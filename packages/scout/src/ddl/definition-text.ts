import { escapeControlCharacters } from '@pgway/core/terminal';
import { objectLine } from '../catalog/objects.ts';
import type { CommandContext } from '../command/command-context.ts';
import type { Member } from './members.ts';
import type { Definition, DefinitionOptions } from './read-definitions.ts';

export function definitionOptions(options: CommandContext['options']): DefinitionOptions {
  return { hasOwners: !options.has('no-owner'), hasGrants: !options.has('no-grants') };
}

/** Returns the definitions, each after a comment with kind and qualified name. */
export function definitionText(definitions: readonly (Definition | Member)[]): string {
  return definitions
    .map(({ object, statements }) => {
      const header = `-- ${escapeControlCharacters(objectLine(object))}`;
      return `${header}\n\n${statementsText(statements)}`;
    })
    .join('\n');
}

/** Returns the statements with an empty line between them. */
export function statementsText(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join('\n');
}
