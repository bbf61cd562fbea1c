import { nearestName } from './suggestion.ts';
/** Validators for the options of the host, which compose into one table for each group of options. */

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
  /** Returns one message for each fault; each begins with the path of the faulty value. */
  readonly validate: (value: unknown, path: string) => readonly string[];
  /** The validators of a group of options, by name. */
  readonly table?: Readonly<Record<string, Validator<never>>>;
  /** Never set; makes validators of different values incompatible types. */
  readonly phantom?: (value: Value) => Value;
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

function ofType<Value>(
  expected: string,
  type: RuntimeType,
  isAllowed: (value: never) => boolean = () => true,
): Validator<Value> {
  return {
    expected,
    runtimeTypes: [type],
    validate: (value, path) =>
      runtimeType(value) === type && isAllowed(value as never)
        ? []
        : [`${path}: must be ${expected}, not ${display(value)}`],
  };
}

export const boolean: Validator<boolean> = ofType('true or false', 'flag');
export const string: Validator<string> = ofType('text', 'text');
export const nonEmptyString: Validator<string> = ofType(
  'text that is not empty',
  'text',
  (value: string) => value !== '',
);

/** A text that messages must not show. */
export const secret: Validator<string> = {
  expected: 'text',
  runtimeTypes: ['text'],
  validate: (value, path) => (typeof value === 'string' ? [] : [`${path}: must be text, not ${describeType(value)}`]),
};

function describeType(value: unknown): string {
  const type = runtimeType(value);
  const descriptions: Partial<Record<RuntimeType, string>> = {
    flag: 'true or false',
    text: 'text',
    number: 'a number',
  };
  return descriptions[type] ?? display(value);
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

export function integer(range: Range): Validator<number> {
  return ofType(
    `a whole number${describeRange(range)}`,
    'number',
    (value: number) => Number.isSafeInteger(value) && isInRange(range, value),
  );
}

export function number(range: Range): Validator<number> {
  return ofType(
    `a number${describeRange(range)}`,
    'number',
    (value: number) => Number.isFinite(value) && isInRange(range, value),
  );
}

/** Seconds; the maximum delay of a Node timer. */
const longestTimer = 2_147_483;

/** Seconds that a timer waits for. */
export const seconds: Validator<number> = number({ above: 0, max: longestTimer });
/** Seconds that a timer waits for, or 0 for a special meaning. */
export const secondsOrZero: Validator<number> = number({ min: 0, max: longestTimer });

/** One of several texts. A similar value gets a suggestion. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Validator<Value> {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return {
    expected: `one of ${list}`,
    runtimeTypes: ['text'],
    validate: (value, path) => {
      if (values.includes(value as Value)) return [];
      const suggestion = typeof value === 'string' ? nearestName(value, values) : null;
      const hint = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
      return [`${path}: must be one of ${list}, not ${display(value)}${hint}`];
    },
  };
}

export function nullable<Value>(validator: Validator<Value>): Validator<Value | null> {
  return union(validator, ofType<null>('null', 'null'));
}

/** Either of two validators with different runtime types. */
export function union<First, Second>(first: Validator<First>, second: Validator<Second>): Validator<First | Second> {
  const expected = `${first.expected}${second.expected === 'null' ? ', or' : ' or'} ${second.expected}`;
  return {
    expected,
    runtimeTypes: [...first.runtimeTypes, ...second.runtimeTypes],
    ...(first.table === undefined ? {} : { table: first.table }),
    ...(second.table === undefined ? {} : { table: second.table }),
    validate: (value, path) => {
      const candidates = [first, second].filter((validator) => validator.runtimeTypes.includes(runtimeType(value)));
      if (candidates.length === 0) return [`${path}: must be ${expected}, not ${describeType(value)}`];
      const found = candidates.map((validator) => validator.validate(value, path));
      return found.find((faults) => faults.length === 0) ?? found[0]!;
    },
  };
}

export function arrayOf<Item>(item: Validator<Item>): Validator<readonly Item[]> {
  return {
    expected: 'a list',
    runtimeTypes: ['list'],
    validate: (value, path) =>
      Array.isArray(value)
        ? value.flatMap((element, index) => item.validate(element, `${path}[${index}]`))
        : [`${path}: must be a list, not ${describeType(value)}`],
  };
}

/** An object with arbitrary keys. */
export function recordOf<Item>(
  item: Validator<Item>,
  keyFault: (key: string) => string | null = () => null,
): Validator<Readonly<Record<string, Item>>> {
  return {
    expected: 'an object',
    runtimeTypes: ['object'],
    validate: (value, path) => {
      if (runtimeType(value) !== 'object') return [`${path}: must be an object, not ${describeType(value)}`];
      return Object.entries(value as object).flatMap(([key, member]) => {
        const at = `${path}[${JSON.stringify(key)}]`;
        const fault = keyFault(key);
        return fault === null ? item.validate(member, at) : [`${at}: ${fault}`];
      });
    },
  };
}

export function callback<Value>(): Validator<Value> {
  return ofType('a function', 'function');
}

/** An object with these methods. */
export function objectWithMethods<Value>(...methods: readonly (keyof Value & string)[]): Validator<Value> {
  return {
    expected: 'an object',
    runtimeTypes: ['object', 'function'],
    validate: (value, path) => {
      if (runtimeType(value) !== 'object' && runtimeType(value) !== 'function') {
        return [`${path}: must be an object, not ${describeType(value)}`];
      }
      const missing = methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== 'function');
      return missing.map((method) => `${path}: has no method ${method}`);
    },
  };
}

/** A group of options. Unknown names are faults; undefined options count as absent. */
export function optionGroup<Options>(
  table: OptionValidators<Options>,
  required: readonly (keyof Options & string)[] = [],
): Validator<Options> {
  const validators = table as unknown as Readonly<Record<string, Validator<never>>>;
  return {
    expected: 'an object of options',
    runtimeTypes: ['object'],
    table: validators,
    validate: (value, path) => {
      if (runtimeType(value) !== 'object')
        return [`${path || 'options'}: must be an object of options, not ${describeType(value)}`];
      const before = path === '' ? '' : `${path}.`;
      const entries = Object.entries(value as object).filter(([, member]) => member !== undefined);
      const missing = required.filter((option) => entries.every(([key]) => key !== option));
      return [
        ...missing.map((option) => `${before}${option}: is missing; it must be ${validators[option]!.expected}`),
        ...entries.flatMap(([key, member]) =>
          Object.hasOwn(validators, key)
            ? validators[key]!.validate(member, `${before}${key}`)
            : [`${before}${key}: unknown option${hintFor(key, before, validators)}`],
        ),
      ];
    },
  };
}

/** Suggests an option of the same group first, then one of a nested group. */
function hintFor(key: string, before: string, validators: Readonly<Record<string, Validator<never>>>): string {
  const near = nearestName(key, Object.keys(validators));
  if (near !== null) return `; did you mean ${before}${near}?`;
  for (const [option, { table }] of Object.entries(validators)) {
    const inner = table === undefined ? null : nearestName(key, Object.keys(table));
    if (inner !== null) return `; did you mean ${before}${option}.${inner}?`;
  }
  return before === '' ? '; remove it' : `; ${before.slice(0, -1)} takes ${Object.keys(validators).join(', ')}`;
}
