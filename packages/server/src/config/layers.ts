/** What each place says about the configuration, before anybody has checked it. */
import { JsonTextError, parseJsonText } from './json-text.ts';
import { looseForm, parseSetting, settings, variableOf } from './settings.ts';
import { suggestion } from './near-miss.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Tree = { readonly [key: string]: unknown };

/** One place: values as a tree, and for each path the words that tell a reader where the value stands. */
export interface Layer {
  readonly tree: Tree;
  /** What is wrong with the place itself; its tree then lacks the culprits. */
  readonly issues: readonly string[];
  originOf(path: string): string;
}

/** `--gateway.commentsMode=parseAll` in its two halves; `value` is null when there is no `=`. */
export interface Override {
  readonly key: string;
  readonly value: string | null;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The file's layer: its JSON, with `${NAME}` in strings replaced from the environment. */
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

/** The layer of `PGWAY_…` variables and `DATABASE_URL`. Empty variables count as not set. */
export function environmentLayer(environment: Environment): Layer {
  const found = new Map<string, unknown>();
  const origins = new Map<string, string>();
  const databaseUrl = environment['DATABASE_URL'] ?? '';
  if (databaseUrl !== '') {
    found.set('connectionString', databaseUrl);
    origins.set('connectionString', 'DATABASE_URL');
  }
  for (const setting of settings) {
    const variable = variableOf(setting.path);
    const text = environment[variable] ?? '';
    if (text === '') continue;
    found.set(setting.path, parseSetting(setting, text));
    origins.set(setting.path, variable);
  }
  return { tree: unflatten(found), issues: [], originOf: (path) => `from ${origins.get(path) ?? 'the environment'}` };
}

/** What `PGWAY_…` variables are probably misspelled; others are left alone, since a platform may set such names. */
export function suspectVariables(environment: Environment): readonly string[] {
  const known = settings.map((setting) => variableOf(setting.path));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('PGWAY_') || known.includes(name)) return [];
    const meant = suggestion(name, known);
    return meant === '' ? [] : [`${name}: unknown variable${meant}`];
  });
}

/** The layer of the command line. */
export function overrideLayer(overrides: readonly Override[], otherOptions: readonly string[]): Layer {
  const found = new Map<string, unknown>();
  const issues: string[] = [];
  const candidates = [...settings.map((setting) => setting.path), ...otherOptions];
  for (const { key, value } of overrides) {
    const setting = settings.find((candidate) => looseForm(candidate.path) === looseForm(key));
    if (setting === undefined) {
      issues.push(`${key.startsWith('-') ? key : `--${key}`}: ${strangerOf(key, candidates)}`);
    } else if (value === null && setting.kind !== 'boolean') {
      issues.push(`--${key}: needs a value, as in --${setting.path}=${exampleOf(setting.fallback)}`);
    } else {
      found.set(setting.path, value === null ? true : parseSetting(setting, value));
    }
  }
  return { tree: unflatten(found), issues, originOf: (path) => `from --${path}` };
}

/** Why there is no option of this name. */
function strangerOf(key: string, candidates: readonly string[]): string {
  const inside = candidates.find((candidate) => looseForm(candidate).startsWith(`${looseForm(key)}.`));
  if (inside !== undefined) return `is a section; its settings are given one by one, as in --${inside}=…`;
  const meant = suggestion(key, candidates);
  return `unknown option${meant === '' ? '; --help lists all of them' : meant.replace('mean ', 'mean --')}`;
}

function exampleOf(fallback: unknown): string {
  return typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : '…';
}

function unflatten(values: ReadonlyMap<string, unknown>): Tree {
  const root: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const [section, key] = path.split('.') as [string, string?];
    if (key === undefined) root[section] = value;
    else root[section] = { ...(root[section] as Tree | undefined), [key]: value };
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

/** Those of PostgreSQL's own variables that are set. Empty ones count as not set. */
export function setPgVariables(environment: Environment): readonly string[] {
  return Object.keys(pgVariables).filter((name) => (environment[name] ?? '') !== '');
}

/** The connection that PostgreSQL's own variables describe, as a URL; null when they name neither server nor database. */
export function connectionFromPgVariables(environment: Environment): string | null {
  const given = setPgVariables(environment);
  if (!['PGHOST', 'PGPORT', 'PGDATABASE'].some((name) => given.includes(name))) return null;
  const parameters = new URLSearchParams(given.includes('PGHOST') ? [] : [['host', 'localhost']]);
  for (const variable of given) parameters.set(pgVariables[variable]!, environment[variable]!);
  return `postgres:///?${parameters.toString()}`;
}
