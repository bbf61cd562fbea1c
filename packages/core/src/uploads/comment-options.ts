import type { UploadOptionDefinition, UploadOptionDefinitions, UploadOptionValue } from '../endpoints/upload-option.ts';
import { type Option, type OptionGroup, withDefaults } from '../validation/option.ts';
import type { Schema } from '../validation/schema.ts';

/** Members of a definition that the schema of the option does not give. */
type Further<Group> = {
  readonly [Name in keyof Group]?: Pick<UploadOptionDefinition, 'check' | 'parameterTypes'> & { type?: 'path' | 'sql' };
};

/**
 * Returns the options of a handler as comments have them, in snake case.
 * @param values the values of options that a comment does not set, in place of the defaults of the group
 */
export function commentOptions<Group>(
  group: OptionGroup<Group>,
  values: Partial<NoInfer<Group>> = {},
  further: Further<Group> = {},
): UploadOptionDefinitions {
  const defaults = withDefaults<Group>(group, values) as Group;
  const entries = Object.entries(group.options as unknown as Readonly<Record<string, Option<never>>>).map(
    ([name, option]) => {
      const definition: UploadOptionDefinition = {
        ...formOf(option.schema!),
        ...further[name as keyof Group],
        description: option.description.replaceAll(/`[a-z]+[A-Z]\w*`/g, snakeCase),
        default: defaults[name as keyof Group] as UploadOptionValue,
      };
      return [snakeCase(name), definition] as const;
    },
  );
  return Object.fromEntries(entries);
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function formOf(schema: Schema): Pick<UploadOptionDefinition, 'type' | 'min' | 'max' | 'orList' | 'items'> {
  const variants = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null');
  const [{ type, minimum, maximum, items }, list] = variants as [Schema, Schema?];
  if (type === 'boolean') {
    const choices = list?.items?.enum;
    return { type, ...(choices === undefined ? {} : { orList: true, items: choices }) };
  }
  if (type === 'integer') {
    return {
      type,
      ...(minimum === undefined ? {} : { min: minimum }),
      ...(maximum === undefined ? {} : { max: maximum }),
    };
  }
  if (type === 'array') return { type: 'list', ...(items?.enum === undefined ? {} : { items: items.enum }) };
  return { type: 'text' };
}
