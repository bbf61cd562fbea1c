/** The layers of a configuration before validation: file, environment, command line. */
import { JsonTextError, parseJsonText } from './json-text.ts';
import { normalizeKey, parseSetting, sections, settings, variableName } from './settings.ts';
import { didYouMean } from './suggestion.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Tree = { readonly [key: string]: unknown };
type MutableTree = { [key: string]: unknown };

/** The values of one source. */
export interface Layer {
  readonly tree: Tree;
  /** Errors of the source itself; the tree lacks the values concerned. */
  readonly issues: readonly string[];
  /** Returns the place of a value for messages, as in `in pgway.json`. */
  originOf(path: string): string;
}

/** `--gateway.commentsMode=parseAll`, split at `=`; `value` is null without one. */
export interface Override {
  readonly key: string;
  readonly value: string | null;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses the configuration file and replaces `${NAME}` in strings from the environment. */
export function fileLayer(name: string, text: string, environment: Environment): Layer {
  const originOf = (): string => `in ${name}`;
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { tree: {}, issues: [`${name}:${error.line}:${error.column}: ${error.message}`], originOf };
  }
  if (!isTree(value)) return { tree: {}, issues: [`${name}: the configuration must be a JSON object`], originOf };
  const issues: string[] = [];
  const tree = substitute(value, '', (path, variable) => {
    const found = environment[variable];
    if (found === undefined) issues.push(`${path}: the variable ${variable} is not set (in ${name})`);
    return found ?? `\${${variable}}`;
  }) as Tree;
  return { tree, issues, originOf };
}

function substitute(value: unknown, path: string, lookUp: (path: string, variable: string) => string): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => lookUp(path, name));
  }
  if (Array.isArray(value)) return value.map((item, index) => substitute(item, `${path}[${index}]`, lookUp));
  if (!isTree(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key, substitute(inner, path === '' ? key : `${path}.${key}`, lookUp)] as const;
  });
  return Object.fromEntries(entries);
}

/** Reads `PGWAY_…` variables and `DATABASE_URL`. Empty variables count as unset. */
export function environmentLayer(environment: Environment): Layer {
  const found = new Map<string, unknown>();
  const origins = new Map<string, string>();
  const databaseUrl = environment['DATABASE_URL'] ?? '';
  if (databaseUrl !== '') {
    found.set('connectionString', databaseUrl);
    origins.set('connectionString', 'DATABASE_URL');
  }
  for (const setting of settings) {
    const variable = variableName(setting.path);
    const text = environment[variable] ?? '';
    if (text === '') continue;
    found.set(setting.path, parseSetting(setting, text));
    origins.set(setting.path, variable);
  }
  return { tree: unflatten(found), issues: [], originOf: (path) => `from ${origins.get(path) ?? 'the environment'}` };
}

/**
 * Reports `PGWAY_…` variables that name a section or resemble a known one. Others may be set by the platform
 * (`PGWAY_SERVICE_HOST`).
 */
export function misspelledVariables(environment: Environment): readonly string[] {
  const known = settings.map((setting) => variableName(setting.path));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('PGWAY_') || known.includes(name)) return [];
    const section = sections.find(({ path }) => path !== '' && variableName(path) === name);
    const inside = section?.settings[0];
    if (inside !== undefined)
      return [`${name}: is a section; set its keys one by one, as in ${variableName(inside.path)}`];
    const hint = didYouMean(name, known);
    return hint === '' ? [] : [`${name}: unknown variable${hint}`];
  });
}

/** Reads the settings of the command line. */
export function overrideLayer(overrides: readonly Override[], otherOptions: readonly string[]): Layer {
  const found = new Map<string, unknown>();
  const issues: string[] = [];
  const candidates = [...settings.map((setting) => setting.path), ...otherOptions];
  for (const { key, value } of overrides) {
    const setting = settings.find((candidate) => normalizeKey(candidate.path) === normalizeKey(key));
    if (setting === undefined) {
      issues.push(`${key.startsWith('-') ? key : `--${key}`}: ${describeUnknownOption(key, candidates)}`);
    } else if (value === null && setting.kind !== 'boolean') {
      issues.push(`--${key}: needs a value, as in --${setting.path}=${exampleValue(setting.defaultValue)}`);
    } else {
      found.set(setting.path, value === null ? true : parseSetting(setting, value));
    }
  }
  return { tree: unflatten(found), issues, originOf: (path) => `from --${path}` };
}

function describeUnknownOption(key: string, candidates: readonly string[]): string {
  const inside = candidates.find((candidate) => normalizeKey(candidate).startsWith(`${normalizeKey(key)}.`));
  if (inside !== undefined) return `is a section; set its keys one by one, as in --${inside}=…`;
  const hint = didYouMean(key, candidates);
  return `unknown option${hint === '' ? '; --help lists all of them' : hint.replace('mean ', 'mean --')}`;
}

function exampleValue(defaultValue: unknown): string {
  return typeof defaultValue === 'string' || typeof defaultValue === 'number' ? String(defaultValue) : '…';
}

/** Returns the tree of values by path. */
function unflatten(values: ReadonlyMap<string, unknown>): Tree {
  const root: MutableTree = {};
  for (const [path, value] of values) {
    const keys = path.split('.');
    const parent = keys.slice(0, -1).reduce<MutableTree>((tree, key) => (tree[key] ??= {}) as MutableTree, root);
    parent[keys.at(-1)!] = value;
  }
  return root;
}

const pgVariables: Readonly<Record<string, string>> = {
  PGHOST: 'host',
  PGPORT: 'port',
  PGDATABASE: 'dbname',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  PGSSLMODE: 'sslmode',
};

/** Returns the libpq variables that are set. Empty variables count as unset. */
export function presentPgVariables(environment: Environment): readonly string[] {
  return Object.keys(pgVariables).filter((name) => (environment[name] ?? '') !== '');
}

/** Builds a connection URL from the libpq variables; null when they name neither server nor database. */
export function connectionFromPgVariables(environment: Environment): string | null {
  const present = presentPgVariables(environment);
  if (!['PGHOST', 'PGPORT', 'PGDATABASE'].some((name) => present.includes(name))) return null;
  const parameters = new URLSearchParams(present.includes('PGHOST') ? [] : [['host', 'localhost']]);
  for (const variable of present) parameters.set(pgVariables[variable]!, environment[variable]!);
  return `postgres:///?${parameters.toString()}`;
}
