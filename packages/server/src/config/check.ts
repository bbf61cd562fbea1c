import type { z } from 'zod';
import { ConfigurationError } from './configuration-error.ts';
import { isTree } from './layers.ts';
import type { Layer, Tree } from './layers.ts';
import { nearMiss, suggestion } from './near-miss.ts';
import { configurationSchema } from './schema.ts';
import type { Configuration } from './schema.ts';
import { sections, settings } from './settings.ts';

type Issue = z.core.$ZodIssue;

/** Settings whose values, and whatever is inside of them, are never shown, not even when they are wrong. */
const secrets = [
  'connectionString',
  'gateway.connectionStrings',
  'gateway.customRequestHeaders',
  'gateway.listenConnectionString',
] as const;

/**
 * Lays the layers over one another, the last one on top, and checks the whole.
 * @throws ConfigurationError with every issue
 */
export function checkLayers(layers: readonly Layer[]): Configuration {
  const tree = layers.reduce<Tree>((below, layer) => overlay(below, layer.tree), {});
  const result = configurationSchema.safeParse(tree);
  const found = result.success ? [] : result.error.issues.flatMap((issue) => describe(issue, tree, layers));
  const issues = [...layers.flatMap((layer) => layer.issues), ...found];
  if (result.success && issues.length === 0) return result.data;
  throw new ConfigurationError(issues);
}

function overlay(below: Tree, above: Tree): Tree {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    const isSection = sections.some((section) => section.path === key);
    merged[key] = isSection && isTree(under) && isTree(value) ? { ...under, ...value } : value;
  }
  return merged;
}

function describe(issue: Issue, tree: Tree, layers: readonly Layer[]): readonly string[] {
  const path = pathOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const parent = path === '' ? '' : `${path}.`;
    return issue.keys.map((key) => {
      const whole = `${parent}${key}`;
      return `${whole}: unknown${suggestion(whole, candidatesFor(parent))}${origin(whole, layers)}`;
    });
  }
  const value = valueAt(tree, issue.path);
  const hidden = value === undefined || issue.code === 'invalid_key' || touchesSecret(issue.path);
  const shown = hidden ? '' : `, not ${JSON.stringify(value)}`;
  return [`${path}: ${complaint(issue, value)}${shown}${origin(path, layers)}`];
}

/** Whether a secret is at the path, above it, or below it: a section that is no object may hold one all the same. */
function touchesSecret(path: readonly PropertyKey[]): boolean {
  return secrets.some((secret) =>
    secret.split('.').every((part, index) => index >= path.length || path[index] === part),
  );
}

/** What an unknown key can have meant: its neighbours first, then all the others. */
function candidatesFor(parent: string): readonly string[] {
  const all = [...settings.map((setting) => setting.path), ...sections.map((section) => section.path).filter(Boolean)];
  const isNear = (path: string): boolean => path.startsWith(parent) && !path.slice(parent.length).includes('.');
  return [...all.filter(isNear), ...all.filter((path) => !isNear(path))];
}

const expected: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list of texts',
  object: 'must be an object',
  record: 'must be an object',
};

function complaint(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expected[issue.expected] ?? `must be ${issue.expected}`;
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const meant = typeof value === 'string' ? nearMiss(value, choices) : null;
      return `must be one of ${choices.join(', ')}${meant === null ? '' : ` (did you mean ${meant}?)`}`;
    }
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `must be ${issue.inclusive === true ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_key':
      return issue.issues.map((inner) => inner.message).join(', ');
    default:
      return issue.message;
  }
}

function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

function valueAt(tree: Tree, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], tree);
}

/** Where the value stands that is complained about: the topmost layer that has it. */
function origin(path: string, layers: readonly Layer[]): string {
  const parts = path.replaceAll('[', '.').replaceAll(']', '').split('.').slice(0, 2);
  const layer = layers.findLast((candidate) => valueAt(candidate.tree, parts) !== undefined);
  return layer === undefined ? '' : ` (${layer.originOf(parts.join('.'))})`;
}
