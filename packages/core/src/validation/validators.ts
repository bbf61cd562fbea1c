/** Validators for the options of the host, which compose into one table for each group of options. */
import { type Fault, formatPath, type Path, withoutValue } from './fault.ts';
import { nearestName } from './suggestion.ts';
import { containerSchema, hasSecrets, nullableSchema, type Schema, unionSchema } from './schema.ts';

type RuntimeType = 'text' | 'number' | 'flag' | 'list' | 'object' | 'function' | 'null' | 'other';

/**
 * A validator for the values of an option. `Value` is the TypeScript type of the option: in `OptionValidators`, a validator
 * of another type does not compile.
 */
export interface Validator<in out Value> {
  /** The description of the values in messages: `a number from 0 to 10`. */
  readonly expected: string;
  /** The runtime types of the values, by which a union selects its member. */
  readonly runtimeTypes: readonly RuntimeType[];
  readonly validate: (value: unknown, path: Path) => readonly Fault[];
  /** The TypeScript type of the values, and the modules of the names in it, by name. */
  readonly source: TypeSource;
  /** The JSON Schema of the values; null: they are objects or functions of the host, which a file cannot contain. */
  readonly schema: Schema | null;
  /** The validators of a group of options, by name. */
  readonly table?: Readonly<Record<string, Validator<never>>>;
  /** Never set; makes validators of different values incompatible types. */
  readonly phantom?: (value: Value) => Value;
}

/** A type as text. */
export interface TypeSource {
  readonly text: string;
  /** The modules of the names in it, relative to the module that declares the option. */
  readonly imports: Readonly<Record<string, string>>;
}

/** Exactly one validator for every option. */
export type OptionValidators<Options> = {
  readonly [Name in keyof Options]-?: Validator<Exclude<Options[Name], undefined>>;
};

function runtimeType(value: unknown): RuntimeType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const types: Partial<Record<string, RuntimeType>> = {
    string: 'text',
    number: 'number',
    boolean: 'flag',
    object: 'object',
    function: 'function',
  };
  return types[typeof value] ?? 'other';
}

const maxDisplayLength = 80;

/** Returns the value for a message: short, on one line, and never the members of an object, which may be secrets. */
function display(value: unknown): string {
  const type = runtimeType(value);
  if (type === 'object' || type === 'function') return `a${type === 'object' ? 'n' : ''} ${type}`;
  if (type === 'list') return 'a list';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > maxDisplayLength ? `${text.slice(0, maxDisplayLength)}…` : text;
}

const source = (text: string, imports: TypeSource['imports'] = {}): TypeSource => ({ text, imports });

interface TypeOptions {
  readonly type: RuntimeType;
  readonly source: TypeSource;
  readonly schema: Schema | null;
  readonly isAllowed?: (value: never) => boolean;
}

function ofType<Value>(
  expected: string,
  { type, isAllowed = () => true, ...description }: TypeOptions,
): Validator<Value> {
  return {
    expected,
    runtimeTypes: [type],
    ...description,
    validate: (value, path) =>
      runtimeType(value) === type && isAllowed(value as never)
        ? []
        : [{ path, message: `must be ${expected}`, shown: display(value) }],
  };
}

export const boolean: Validator<boolean> = ofType('true or false', {
  type: 'flag',
  source: source('boolean'),
  schema: { type: 'boolean' },
});
const text = { type: 'text', source: source('string') } as const;
export const string: Validator<string> = ofType('text', { ...text, schema: { type: 'string' } });
export const nonEmptyString: Validator<string> = ofType('text that is not empty', {
  ...text,
  schema: { type: 'string', minLength: 1 },
  isAllowed: (value: string) => value !== '',
});

export function boundedText(maxLength: number): Validator<string> {
  return ofType(`text of 1 to ${maxLength} characters`, {
    ...text,
    schema: { type: 'string', minLength: 1, maxLength },
    isAllowed: (value: string) => value !== '' && value.length <= maxLength,
  });
}

/** A text that matches a pattern. @param rule what is expected, after `must be` */
export function matching(pattern: RegExp, rule: string): Validator<string> {
  const schema: Schema = { type: 'string', pattern: pattern.source };
  return ofType(rule, { ...text, schema, isAllowed: (value: string) => pattern.test(value) });
}

/** The same values, without those of which the function returns a fault. */
export function checked<Value>(
  validator: Validator<Value>,
  messageOf: (value: Value) => string | null,
): Validator<Value> {
  return {
    ...validator,
    validate: (value, path) => {
      const faults = validator.validate(value, path);
      const message = faults.length > 0 ? null : messageOf(value as Value);
      return message === null ? faults : [{ path, message }];
    },
  };
}

/** The same values, which messages must not show. */
export function hidden<Value>(validator: Validator<Value>): Validator<Value> {
  return {
    ...validator,
    schema: validator.schema === null ? null : { ...validator.schema, writeOnly: true },
    validate: (value, path) =>
      validator
        .validate(value, path)
        .map((fault) => (typeof value === 'string' ? withoutValue(fault) : { ...fault, shown: describeType(value) })),
  };
}

export const secret: Validator<string> = hidden(nonEmptyString);

/** An object of JSON. */
export const jsonObject: Validator<object> = ofType('an object', {
  type: 'object',
  source: source('object'),
  schema: { type: 'object', additionalProperties: {} },
});

function describeType(value: unknown): string {
  const type = runtimeType(value);
  const descriptions: Partial<Record<RuntimeType, string>> = {
    flag: 'true or false',
    text: 'text',
    number: 'a number',
  };
  return descriptions[type] ?? display(value);
}

/** @param schema the schema of the values; null when they are not those of a file */
function wrongType(path: Path, expected: string, value: unknown, schema: Schema | null): Fault {
  return { path, message: `must be ${expected}`, shown: hasSecrets(schema) ? describeType(value) : display(value) };
}

interface Range {
  readonly min?: number;
  readonly max?: number;
  /** Exclusive lower bound. */
  readonly above?: number;
}

function describeRange({ min, max, above }: Range): string {
  const low = above !== undefined ? ` above ${above}` : min === undefined ? '' : ` from ${min}`;
  if (max === undefined) return above === undefined && min !== undefined ? ` of at least ${min}` : low;
  return above === undefined ? `${low} to ${max}` : `${low}, at most ${max}`;
}

function isInRange({ min = -Infinity, max = Infinity, above = -Infinity }: Range, value: number): boolean {
  return value >= min && value <= max && value > above;
}

function rangeSchema({ min, max, above }: Range): Partial<Schema> {
  return {
    ...(min === undefined ? {} : { minimum: min }),
    ...(above === undefined ? {} : { exclusiveMinimum: above }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}

export function integer(range: Range): Validator<number> {
  return ofType(`a whole number${describeRange(range)}`, {
    type: 'number',
    source: source('number'),
    schema: { type: 'integer', ...rangeSchema(range) },
    isAllowed: (value: number) => Number.isSafeInteger(value) && isInRange(range, value),
  });
}

export function number(range: Range): Validator<number> {
  return ofType(`a number${describeRange(range)}`, {
    type: 'number',
    source: source('number'),
    schema: { type: 'number', ...rangeSchema(range) },
    isAllowed: (value: number) => Number.isFinite(value) && isInRange(range, value),
  });
}

/** One of several texts. A similar value gets a suggestion. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Validator<Value> {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return {
    expected: `one of ${list}`,
    runtimeTypes: ['text'],
    source: source(values.map((value) => `'${value}'`).join(' | ')),
    schema: { type: 'string', enum: values },
    validate: (value, path) => {
      if (values.includes(value as Value)) return [];
      const suggestion = typeof value === 'string' ? nearestName(value, values) : null;
      const hint = suggestion === null ? {} : { hint: `did you mean ${JSON.stringify(suggestion)}?` };
      return [{ path, message: `must be one of ${list}`, shown: display(value), ...hint }];
    },
  };
}

export function nullable<Value>(validator: Validator<Value>): Validator<Value | null> {
  const none = ofType<null>('null', { type: 'null', source: source('null'), schema: null });
  return { ...union(validator, none), schema: nullableSchema(validator.schema) };
}

/** Either of two validators with different runtime types. */
export function union<First, Second>(first: Validator<First>, second: Validator<Second>): Validator<First | Second> {
  const schema = unionSchema(first.schema, second.schema);
  const isEnumeration = second.expected === 'null' || first.expected.includes(' or ');
  const expected = `${first.expected}${isEnumeration ? ', or' : ' or'} ${second.expected}`;
  return {
    expected,
    runtimeTypes: [...first.runtimeTypes, ...second.runtimeTypes],
    source: source(`${inUnion(first.source.text)} | ${inUnion(second.source.text)}`, {
      ...first.source.imports,
      ...second.source.imports,
    }),
    schema,
    ...(first.table === undefined ? {} : { table: first.table }),
    ...(second.table === undefined ? {} : { table: second.table }),
    validate: (value, path) => {
      const candidates = [first, second].filter((validator) => validator.runtimeTypes.includes(runtimeType(value)));
      if (candidates.length === 0) return [wrongType(path, expected, value, schema)];
      const found = candidates.map((validator) => validator.validate(value, path));
      return found.find((faults) => faults.length === 0) ?? found[0]!;
    },
  };
}

const inUnion = (type: string): string => (type.includes('=>') ? `(${type})` : type);
const inList = (type: string): string => (/[ |>]/.test(type) ? `(${type})` : type);

export function arrayOf<Item>(item: Validator<Item>): Validator<readonly Item[]> {
  return {
    expected: item.schema?.enum === undefined ? 'a list' : `a list of ${item.schema.enum.join(', ')}`,
    runtimeTypes: ['list'],
    source: source(`readonly ${inList(item.source.text)}[]`, item.source.imports),
    schema: item.schema === null ? null : containerSchema(item.schema, (items) => ({ type: 'array', items })),
    validate: (value, path) =>
      Array.isArray(value)
        ? value.flatMap((element, index) => item.validate(element, [...path, index]))
        : [wrongType(path, 'a list', value, item.schema)],
  };
}

/**
 * An object with arbitrary keys.
 * @param keyFault returns what is wrong with a key, or null
 */
export function recordOf<Item>(
  item: Validator<Item>,
  keyFault: (key: string) => string | null = () => null,
): Validator<Readonly<Record<string, Item>>> {
  return {
    expected: 'an object',
    runtimeTypes: ['object'],
    source: source(`Readonly<Record<string, ${item.source.text}>>`, item.source.imports),
    schema:
      item.schema === null
        ? null
        : containerSchema(item.schema, (additionalProperties) => ({ type: 'object', additionalProperties })),
    validate: (value, path) => {
      if (runtimeType(value) !== 'object') return [wrongType(path, 'an object', value, item.schema)];
      return Object.entries(value as object).flatMap(([key, member]) => {
        const at = [...path, key];
        const message = keyFault(key);
        return message === null ? item.validate(member, at) : [{ path: at, message }];
      });
    },
  };
}

/** An object with some of the keys. */
export function mapOf<Key extends string, Item>(
  keys: Validator<Key>,
  item: Validator<Item>,
): Validator<Readonly<Partial<Record<Key, Item>>>> {
  const entries = recordOf(item) as unknown as Validator<Readonly<Partial<Record<Key, Item>>>>;
  return {
    ...entries,
    source: source(`Readonly<Partial<Record<${keys.source.text}, ${item.source.text}>>>`, item.source.imports),
    schema: entries.schema === null ? null : { ...entries.schema, propertyNames: keys.schema! },
    validate: (value, path) => [
      ...(runtimeType(value) === 'object' ? Object.keys(value as object) : []).flatMap((key) =>
        keys.validate(key, [...path, key]),
      ),
      ...entries.validate(value, path),
    ],
  };
}

/** A function of the host. @param type its TypeScript type, and the modules of the names in it */
export function callback<Value>(type = 'unknown', imports: TypeSource['imports'] = {}): Validator<Value> {
  return ofType('a function', { type: 'function', source: source(type, imports), schema: null });
}

/**
 * An object of the host with these methods.
 * @param type the name of its TypeScript type
 * @param from the module of the type
 */
export function implementation<Value>(
  type: string,
  from: string,
  methods: readonly (keyof Value & string)[],
): Validator<Value> {
  return { ...objectWithMethods<Value>(...methods), source: source(type, from === '' ? {} : { [type]: from }) };
}

/** An object with these methods. */
export function objectWithMethods<Value>(...methods: readonly (keyof Value & string)[]): Validator<Value> {
  return {
    expected: 'an object',
    runtimeTypes: ['object', 'function'],
    source: source('unknown'),
    schema: null,
    validate: (value, path) => {
      if (runtimeType(value) !== 'object' && runtimeType(value) !== 'function') {
        return [wrongType(path, 'an object', value, null)];
      }
      const missing = methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== 'function');
      return missing.map((method) => ({ path, message: `has no method ${method}` }));
    },
  };
}

/** An object with these members. Unknown names are faults; undefined members count as absent. */
export function objectOf<Members>(
  members: OptionValidators<Members>,
  required: readonly (keyof Members & string)[] = [],
): Validator<Members> {
  const table = members as unknown as Readonly<Record<string, Validator<never>>>;
  return {
    expected: 'an object of options',
    runtimeTypes: ['object'],
    table,
    source: source('object'),
    schema: null,
    validate: (value, path) => memberFaults(table, required, value, path),
  };
}

function memberFaults(
  table: Readonly<Record<string, Validator<never>>>,
  required: readonly string[],
  value: unknown,
  path: Path,
): readonly Fault[] {
  if (runtimeType(value) !== 'object') return [wrongType(path, 'an object of options', value, null)];
  const entries = Object.entries(value as object).filter(([, member]) => member !== undefined);
  const missing = required.filter((name) => entries.every(([key]) => key !== name));
  return [
    ...missing.map((name) => ({
      path: [...path, name],
      message: 'is missing',
      hint: `it must be ${table[name]!.expected}`,
    })),
    ...entries.flatMap(([key, member]) => {
      const at = [...path, key];
      if (Object.hasOwn(table, key)) return table[key]!.validate(member, at);
      return [{ path: at, message: 'unknown option', hint: hintFor(key, path, table), isUnknown: true } as const];
    }),
  ];
}

/** Suggests an option of the same group first, then one of a nested group. */
function hintFor(key: string, path: Path, table: Readonly<Record<string, Validator<never>>>): string {
  const near = nearestName(key, Object.keys(table));
  if (near !== null) return `did you mean ${formatPath([...path, near])}?`;
  for (const [name, { table: nested }] of Object.entries(table)) {
    const inner = nested === undefined ? null : nearestName(key, Object.keys(nested));
    if (inner !== null) return `did you mean ${formatPath([...path, name, inner])}?`;
  }
  return path.length === 0 ? 'remove it' : `${formatPath(path)} takes ${Object.keys(table).join(', ')}`;
}
