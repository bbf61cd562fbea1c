import { nearestName } from './suggestion.ts';
/** What options take: small descriptions that are put together into one table for each group of options. */

type RuntimeType = 'text' | 'number' | 'flag' | 'list' | 'object' | 'function' | 'null' | 'other';

/**
 * The values that an option takes. `Value` is the TypeScript type of the option: a kind that takes more or less than the type says
 * does not compile in an `OptionTable`.
 */
export interface Validator<in out Value> {
  /** How a message names the values: `a number from 0 to 10`. */
  readonly expected: string;
  /** The types that its values can have at run time; a union chooses its member by them. */
  readonly types: readonly RuntimeType[];
  /** Returns one line for everything that is wrong with the value; each begins with the path of the culprit. */
  readonly validate: (value: unknown, path: string) => readonly string[];
  /** For a group of options: their names and kinds. */
  readonly table?: Readonly<Record<string, Validator<never>>>;
  /** Never there: makes two kinds of different values different types. */
  readonly phantom?: (value: Value) => Value;
}

/** A kind for every option, no more and no fewer. */
export type OptionValidators<Options> = {
  readonly [Name in keyof Options]-?: Validator<Exclude<Options[Name], undefined>>;
};

function typeOf(value: unknown): RuntimeType {
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

const longestShown = 80;

/** Returns the value for a message: short, on one line, and never the members of an object, which may be secrets. */
function shown(value: unknown): string {
  const type = typeOf(value);
  if (type === 'object' || type === 'function') return `a${type === 'object' ? 'n' : ''} ${type}`;
  if (type === 'list') return 'a list';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

function simple<Value>(
  takes: string,
  type: RuntimeType,
  allowed: (value: never) => boolean = () => true,
): Validator<Value> {
  return {
    expected: takes,
    types: [type],
    validate: (value, path) =>
      typeOf(value) === type && allowed(value as never) ? [] : [`${path}: must be ${takes}, not ${shown(value)}`],
  };
}

export const boolean: Validator<boolean> = simple('true or false', 'flag');
export const string: Validator<string> = simple('text', 'text');
export const nonEmptyString: Validator<string> = simple(
  'text that is not empty',
  'text',
  (value: string) => value !== '',
);

/** Text that no message may show. */
export const secret: Validator<string> = {
  expected: 'text',
  types: ['text'],
  validate: (value, path) => (typeof value === 'string' ? [] : [`${path}: must be text, not ${kindOf(value)}`]),
};

function kindOf(value: unknown): string {
  const type = typeOf(value);
  const kinds: Partial<Record<RuntimeType, string>> = { flag: 'true or false', text: 'text', number: 'a number' };
  return kinds[type] ?? shown(value);
}

interface Range {
  readonly min?: number;
  readonly max?: number;
  /** The value must be more than this. */
  readonly above?: number;
}

function rangeText({ min, max, above }: Range): string {
  const low = above !== undefined ? ` above ${above}` : min === undefined ? '' : ` from ${min}`;
  if (max === undefined) return above === undefined && min !== undefined ? ` of at least ${min}` : low;
  return above === undefined ? `${low} to ${max}` : `${low}, at most ${max}`;
}

function inside({ min = -Infinity, max = Infinity, above = -Infinity }: Range, value: number): boolean {
  return value >= min && value <= max && value > above;
}

export function integer(range: Range): Validator<number> {
  return simple(
    `a whole number${rangeText(range)}`,
    'number',
    (value: number) => Number.isSafeInteger(value) && inside(range, value),
  );
}

export function number(range: Range): Validator<number> {
  return simple(
    `a number${rangeText(range)}`,
    'number',
    (value: number) => Number.isFinite(value) && inside(range, value),
  );
}

/** The longest time that a timer of Node can wait for, in seconds. */
const longestTimer = 2_147_483;

/** Seconds that a timer waits for. */
export const seconds: Validator<number> = number({ above: 0, max: longestTimer });
/** Seconds that a timer waits for; 0 has a meaning of its own. */
export const secondsOrZero: Validator<number> = number({ min: 0, max: longestTimer });

/** One of some texts. A value that differs from one of them in case, hyphens or a slip gets a hint. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Validator<Value> {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return {
    expected: `one of ${list}`,
    types: ['text'],
    validate: (value, path) => {
      if (values.includes(value as Value)) return [];
      const meant = typeof value === 'string' ? nearestName(value, values) : null;
      const hint = meant === null ? '' : `; did you mean ${JSON.stringify(meant)}?`;
      return [`${path}: must be one of ${list}, not ${shown(value)}${hint}`];
    },
  };
}

export function nullable<Value>(kind: Validator<Value>): Validator<Value | null> {
  return union(kind, simple<null>('null', 'null'));
}

/** Either of two kinds, which differ in the types of their values. */
export function union<First, Second>(first: Validator<First>, second: Validator<Second>): Validator<First | Second> {
  const expected = `${first.expected}${second.expected === 'null' ? ', or' : ' or'} ${second.expected}`;
  return {
    expected: expected,
    types: [...first.types, ...second.types],
    ...(first.table === undefined ? {} : { table: first.table }),
    ...(second.table === undefined ? {} : { table: second.table }),
    validate: (value, path) => {
      const fitting = [first, second].filter((kind) => kind.types.includes(typeOf(value)));
      if (fitting.length === 0) return [`${path}: must be ${expected}, not ${kindOf(value)}`];
      const found = fitting.map((kind) => kind.validate(value, path));
      return found.find((faults) => faults.length === 0) ?? found[0]!;
    },
  };
}

export function arrayOf<Item>(item: Validator<Item>): Validator<readonly Item[]> {
  return {
    expected: 'a list',
    types: ['list'],
    validate: (value, path) =>
      Array.isArray(value)
        ? value.flatMap((one, index) => item.validate(one, `${path}[${index}]`))
        : [`${path}: must be a list, not ${kindOf(value)}`],
  };
}

/** An object with names of the host's own choice. */
export function recordOf<Item>(
  item: Validator<Item>,
  keyFault: (key: string) => string | null = () => null,
): Validator<Readonly<Record<string, Item>>> {
  return {
    expected: 'an object',
    types: ['object'],
    validate: (value, path) => {
      if (typeOf(value) !== 'object') return [`${path}: must be an object, not ${kindOf(value)}`];
      return Object.entries(value as object).flatMap(([key, one]) => {
        const at = `${path}[${JSON.stringify(key)}]`;
        const fault = keyFault(key);
        return fault === null ? item.validate(one, at) : [`${at}: ${fault}`];
      });
    },
  };
}

export function callback<Value>(): Validator<Value> {
  return simple('a function', 'function');
}

/** An object of the host's, which has these methods. */
export function objectWithMethods<Value>(...methods: readonly (keyof Value & string)[]): Validator<Value> {
  return {
    expected: 'an object',
    types: ['object', 'function'],
    validate: (value, path) => {
      if (typeOf(value) !== 'object' && typeOf(value) !== 'function') {
        return [`${path}: must be an object, not ${kindOf(value)}`];
      }
      const missing = methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== 'function');
      return missing.map((method) => `${path}: has no method ${method}`);
    },
  };
}

/** A group of options. A name that is none of theirs is wrong; an option that is undefined counts as not given. */
export function optionGroup<Options>(
  table: OptionValidators<Options>,
  required: readonly (keyof Options & string)[] = [],
): Validator<Options> {
  const kinds = table as unknown as Readonly<Record<string, Validator<never>>>;
  return {
    expected: 'an object of options',
    types: ['object'],
    table: kinds,
    validate: (value, path) => {
      if (typeOf(value) !== 'object')
        return [`${path || 'options'}: must be an object of options, not ${kindOf(value)}`];
      const before = path === '' ? '' : `${path}.`;
      const given = Object.entries(value as object).filter(([, one]) => one !== undefined);
      const missing = required.filter((option) => given.every(([key]) => key !== option));
      return [
        ...missing.map((option) => `${before}${option}: is missing; it must be ${kinds[option]!.expected}`),
        ...given.flatMap(([key, one]) =>
          Object.hasOwn(kinds, key)
            ? kinds[key]!.validate(one, `${before}${key}`)
            : [`${before}${key}: unknown option${hintFor(key, before, kinds)}`],
        ),
      ];
    },
  };
}

/** Looks among the neighbours first, then in the groups that stand beside them. */
function hintFor(key: string, before: string, kinds: Readonly<Record<string, Validator<never>>>): string {
  const near = nearestName(key, Object.keys(kinds));
  if (near !== null) return `; did you mean ${before}${near}?`;
  for (const [option, { table }] of Object.entries(kinds)) {
    const inner = table === undefined ? null : nearestName(key, Object.keys(table));
    if (inner !== null) return `; did you mean ${before}${option}.${inner}?`;
  }
  return before === '' ? '; remove it' : `; ${before.slice(0, -1)} takes ${Object.keys(kinds).join(', ')}`;
}
