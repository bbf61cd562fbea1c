/** The layers of a configuration before validation: environment and command line; `file-layer.ts` has those of files. */
import type { Environment } from './environment.ts';
import { otelSettings } from './otel-variables.ts';
import { formatPath, type Path } from '@pgway/core/internal';
import { normalizeKey, parseSetting, sections, settings, variableName } from './settings.ts';
import { removedSettings } from './removed-settings.ts';
import { didYouMean } from './suggestion.ts';

export type Tree = { readonly [key: string]: unknown };
type MutableTree = { [key: string]: unknown };

/** The values of one source. */
export interface Layer {
  readonly tree: Tree;
  /** Errors of the source itself; the tree lacks the values concerned. */
  readonly issues: readonly string[];
  /** Whether a value is in its place, or from it, as in `in pgway.json:3` and `from --port`. */
  readonly relation: 'in' | 'from';
  /** Whether maps are merged key by key into those of earlier layers; false: they replace them. */
  readonly mergesMaps: boolean;
  /** Returns the place of a value of the tree: `pgway.json:3`, `PGWAY_PORT`, `--port`. */
  originOf(path: Path): string;
}

/** `--gateway.commentsMode=parseAll`, split at `=`; `value` is null without one. */
export interface Override {
  readonly key: string;
  readonly value: string | null;
  /** The argument behind an option without a value, which is probably the value: `8080` of `--port 8080`. */
  readonly next?: string;
}

/** Whether the argument behind the option is its value: options that are not switches have one. */
export function lacksValue({ key, value, next }: Override): boolean {
  if (value !== null || next === undefined) return false;
  return findSetting(key)?.kind !== 'boolean';
}

function findSetting(key: string): (typeof settings)[number] | undefined {
  return settings.find((candidate) => normalizeKey(candidate.path) === normalizeKey(key));
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads `PGWAY_…` variables, `DATABASE_URL` and the variables of OpenTelemetry. Empty variables count as unset.
 * @param placeOf returns the place of a variable: its name, or `PGWAY_PORT in .env`
 */
export function environmentLayer(environment: Environment, placeOf: (variable: string) => string): Layer {
  const found = new Map<string, unknown>();
  const origins = new Map<string, string>();
  const databaseUrl = environment['DATABASE_URL'] ?? '';
  if (databaseUrl !== '') {
    found.set('connectionString', databaseUrl);
    origins.set('connectionString', placeOf('DATABASE_URL'));
  }
  for (const { path, value, variable } of otelSettings(environment)) {
    found.set(path, value);
    origins.set(path, placeOf(variable));
  }
  for (const setting of settings) {
    const variable = variableName(setting.path);
    const text = environment[variable] ?? '';
    if (text === '') continue;
    found.set(setting.path, parseSetting(setting, text));
    origins.set(setting.path, placeOf(variable));
  }
  const originOf = (path: Path): string => origins.get(formatPath(path)) ?? 'the environment';
  return { tree: unflatten(found), issues: [], relation: 'from', mergesMaps: false, originOf };
}

/**
 * Reports `PGWAY_…` variables that name a section or resemble a known one. Others may be set by the platform
 * (`PGWAY_SERVICE_HOST`).
 */
export function misspelledVariables(environment: Environment): readonly string[] {
  const known = ['PGWAY_ENVIRONMENT', ...settings.map((setting) => variableName(setting.path))];
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('PGWAY_') || known.includes(name)) return [];
    const section = sections.find(({ path }) => path !== '' && variableName(path) === name);
    const inside = section?.settings[0];
    if (inside !== undefined)
      return [`${name}: is a section; set its keys one by one, as in ${variableName(inside.path)}`];
    const removed = Object.keys(removedSettings).find((path) => variableName(path) === name);
    if (removed !== undefined) return [`${name}: unknown variable; ${removedSettings[removed]!}`];
    const hint = didYouMean(name, known);
    return hint === '' ? [] : [`${name}: unknown variable${hint}`];
  });
}

/** Reads the settings of the command line. */
export function overrideLayer(overrides: readonly Override[], otherOptions: readonly string[]): Layer {
  const found = new Map<string, unknown>();
  const issues: string[] = [];
  const candidates = [...settings.map((setting) => setting.path), ...otherOptions];
  for (const { key, value, next } of overrides) {
    const setting = findSetting(key);
    if (setting === undefined) {
      issues.push(`${key.startsWith('-') ? key : `--${key}`}: ${describeUnknownOption(key, candidates)}`);
    } else if (value === null && setting.kind !== 'boolean') {
      issues.push(`--${key}: needs a value, as in --${setting.path}=${exampleValue(setting, next)}`);
    } else {
      found.set(setting.path, value === null ? true : parseSetting(setting, value));
    }
  }
  const originOf = (path: Path): string => `--${formatPath(path)}`;
  return { tree: unflatten(found), issues, relation: 'from', mergesMaps: false, originOf };
}

function describeUnknownOption(key: string, candidates: readonly string[]): string {
  if (/^-\w$/.test(key)) return 'unknown option; options begin with two hyphens, as in --port=8080';
  const inside = candidates.find((candidate) => normalizeKey(candidate).startsWith(`${normalizeKey(key)}.`));
  if (inside !== undefined) return `is a section; set its keys one by one, as in --${inside}=…`;
  const removed = Object.keys(removedSettings).find((path) => normalizeKey(path) === normalizeKey(key));
  if (removed !== undefined) return `unknown option; ${removedSettings[removed]!}`;
  const hint = didYouMean(key, candidates);
  return `unknown option${hint === '' ? '; --help lists all of them' : hint.replace('mean ', 'mean --')}`;
}

/** @param next the argument behind the option, which messages must not show if it may be a secret */
function exampleValue({ defaultValue, secret }: (typeof settings)[number], next: string | undefined): string {
  if (next !== undefined && !secret && /^[\w.-]+$/.test(next)) return next;
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
