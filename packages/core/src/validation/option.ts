/**
 * Options of the host: each is declared once, in a table of its group, with type, default and description. Types in TypeScript
 * (`npm run options` writes them), validation, defaults, JSON Schema, `--help` and the reference are derived from the table.
 */
import type { Fault } from './fault.ts';
import type { Schema } from './schema.ts';
import { objectOf, type OptionValidators, type TypeSource, type Validator } from './validators.ts';

export interface Option<in out Value> extends Validator<Value> {
  readonly description: string;
  /** Absent without a default. */
  readonly default?: Value;
  readonly isRequired: boolean;
}

/** Exactly one option for every member of a group. */
export type OptionTable<Group> = {
  readonly [Name in keyof Group]-?: Option<Exclude<Group[Name], undefined>>;
};

/** A group of options, which is the validator of objects with some of them. */
export interface OptionGroup<in out Group> extends Validator<Group> {
  /** The name of its TypeScript interface. */
  readonly name: string;
  readonly description: string;
  readonly options: OptionTable<Group>;
  readonly check: Check;
  /** Whether the members of the interface are optional; otherwise it has the options with their defaults applied. */
  readonly isPartial: boolean;
}

/** Declares an option with its default. */
export function option<Value>(type: Validator<Value>, byDefault: NoInfer<Value>, description: string): Option<Value> {
  return { ...type, description, default: byDefault, isRequired: false };
}

/** Declares an option that has to be set. */
export function requiredOption<Value>(type: Validator<Value>, description: string): Option<Value> {
  return { ...type, description, isRequired: true };
}

/** Declares an option that may be absent. */
export function optionalOption<Value>(type: Validator<Value>, description: string): Option<Value> {
  return { ...type, description, isRequired: false };
}

/** Returns the faults of an object whose members are valid by themselves; their paths begin in the object. */
export type Check = (value: Readonly<Record<string, unknown>>) => readonly Fault[];

interface GroupForm {
  readonly isPartial?: boolean;
  readonly check?: Check;
}

/**
 * Declares a group of options. As a validator, it takes unknown names for faults and undefined options for absent ones.
 * @param name the name of its TypeScript interface
 */
export function optionGroup<Group>(
  name: string,
  description: string,
  options: OptionTable<NoInfer<Group>>,
  { isPartial = false, check = () => [] }: GroupForm = {},
): OptionGroup<Group> {
  const table = options as unknown as Readonly<Record<string, Option<never>>>;
  const required = Object.keys(table).filter((option) => table[option]!.isRequired);
  const members = objectOf<Group>(options as OptionValidators<Group>, required as (keyof Group & string)[]);
  const source: TypeSource = { text: isPartial ? name : `Partial<${name}>`, imports: { [name]: '' } };
  return {
    ...members,
    name,
    description,
    options,
    check,
    isPartial,
    source,
    schema: groupSchema(description, table, required),
    validate: (value, path) => {
      const faults = members.validate(value, path);
      if (faults.length > 0) return faults;
      const found = check(value as Readonly<Record<string, unknown>>);
      return found.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
    },
  };
}

function groupSchema(
  description: string,
  table: Readonly<Record<string, Option<never>>>,
  required: readonly string[],
): Schema {
  const entries = Object.entries(table).flatMap(([name, { schema, default: byDefault, description: text }]) =>
    schema === null
      ? []
      : [[name, { ...schema, description: text, ...(byDefault === undefined ? {} : { default: byDefault }) }] as const],
  );
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(entries),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The members of a group that have a default, with these defaults. */
export function defaultsOf<Group>({ options }: OptionGroup<Group>): Group {
  const entries = Object.entries(options as Readonly<Record<string, Option<unknown>>>).flatMap(
    ([name, { default: value }]) => (value === undefined ? [] : [[name, value] as const]),
  );
  return Object.freeze(Object.fromEntries(entries)) as Group;
}

/** The values of an option that has some of the options of a group. */
export function partOf<Group>(group: OptionGroup<Group>): Validator<Partial<Group>> {
  return group as unknown as Validator<Partial<Group>>;
}

/**
 * Returns the options with the defaults of those that are absent or undefined.
 * @typeParam WithoutDefault the names of the options that have no default
 */
export function withDefaults<Group, WithoutDefault extends keyof Group = never>(
  group: OptionGroup<Group>,
  options: Partial<NoInfer<Group>>,
): Resolved<Group, WithoutDefault> {
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && name in group.options);
  return { ...defaultsOf(group), ...Object.fromEntries(given) } as Resolved<Group, WithoutDefault>;
}

/** A group with its defaults applied. */
export type Resolved<Group, WithoutDefault extends keyof Group = never> = Required<Omit<Group, WithoutDefault>> &
  Pick<Group, WithoutDefault>;
