/** Sections of the configuration: tables of options, of the library or of the server alone. */
import { type Check, type Option, optionGroup, type OptionGroup, type OptionTable } from '@pgway/core/internal';

type Callable = (...args: never[]) => unknown;
type HasMethod<Value> = true extends {
  [Name in keyof Value]-?: Value[Name] extends Callable ? true : never;
}[keyof Value]
  ? true
  : false;

/** The values that a file can contain: neither functions nor objects with methods. */
type FileValue<Value> = Value extends Callable
  ? never
  : Value extends readonly (infer Item)[]
    ? [FileValue<Item>] extends [never]
      ? never
      : Value
    : Value extends object
      ? HasMethod<Value> extends true
        ? never
        : Value
      : Value;

type FileOptions<Group> = {
  readonly [Name in keyof Group as [FileValue<NonNullable<Group[Name]>>] extends [never] ? never : Name]-?: Option<
    FileValue<Exclude<Group[Name], undefined>>
  >;
};

/** An option with options of its own. */
export type Section<Group> = Option<Group> & OptionGroup<Group>;

export type SectionValues<Of> = Of extends OptionGroup<infer Group> ? Group : never;

/** The values of a table of options, with their defaults. */
type Values<Table> = { readonly [Name in keyof Table]: Table[Name] extends Option<infer Value> ? Value : never };

type AnyTable = Readonly<Record<string, Option<never>>>;

/** Whether an option is a section of the configuration. */
export function isSection(option: Option<never>): option is Section<never> {
  return 'options' in option;
}

/**
 * Returns the options of the library that a file can contain.
 * @param without options that the server sets or has in another form, and those that are for programs only: few deployments would change
 *   them, and their defaults follow from other settings
 */
export function fileOptions<Group, Without extends keyof Group = never>(
  group: OptionGroup<Group>,
  ...without: readonly Without[]
): FileOptions<Omit<Group, Without>> {
  const entries = Object.entries(group.options as unknown as AnyTable).filter(
    ([name, { schema }]) => schema !== null && !without.includes(name as Without),
  );
  const inner = entries.map(([name, option]) => [
    name,
    isSection(option) ? section(option.description, fileOptions(option)) : option,
  ]);
  return Object.fromEntries(inner) as FileOptions<Omit<Group, Without>>;
}

/** Returns an option of the library with another default, or another description. */
export function changed<Value>(
  option: Option<Value>,
  changes: { readonly default?: NoInfer<Value>; readonly description?: string },
): Option<Value> {
  return { ...option, isRequired: option.isRequired && changes.default === undefined, ...changes };
}

/** Declares a section, whose options have their defaults when it is absent. */
export function section<Table extends object>(
  description: string,
  table: Table,
  check: Check = () => [],
): Section<Values<Table>> {
  const group = optionGroup<Values<Table>>('', description, table as unknown as OptionTable<Values<Table>>, { check });
  return { ...group, isRequired: false };
}

/** Returns the values of a section with the defaults of the absent ones, also in the sections within. */
export function resolveSection<Values>(
  { options }: Pick<OptionGroup<Values>, 'options'>,
  values: Readonly<Record<string, unknown>>,
): Values {
  const entries = Object.entries(options as unknown as AnyTable).map(([name, option]) => {
    const given = values[name];
    if (isSection(option)) return [name, resolveSection(option, (given ?? {}) as typeof values)] as const;
    return [name, given === undefined ? (option.default as unknown) : given] as const;
  });
  return Object.fromEntries(entries) as Values;
}
