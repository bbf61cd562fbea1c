import type { z } from 'zod';
import { ConfigurationError } from './configuration-error.ts';
import { isTree } from './layers.ts';
import type { Layer, Tree } from './layers.ts';
import { closestName, didYouMean } from './suggestion.ts';
import { configurationSchema } from './schema.ts';
import type { Configuration } from './schema.ts';
import { sections, settings } from './settings.ts';

type Issue = z.core.$ZodIssue;

/** The keys of each setting whose value never appears in error messages. */
const secretPaths = settings.filter((setting) => setting.secret).map((setting) => setting.path.split('.'));

/**
 * Merges the layers, later ones over earlier ones, and validates the result.
 * @throws ConfigurationError with every issue
 */
export function validateLayers(layers: readonly Layer[]): Configuration {
  const tree = layers.reduce<Tree>((lower, layer) => merge('', lower, layer.tree), {});
  const result = configurationSchema.safeParse(tree);
  const found = result.success ? [] : result.error.issues.flatMap((issue) => issueLines(issue, tree, layers));
  const issues = [...layers.flatMap((layer) => layer.issues), ...found];
  if (result.success && issues.length === 0) return result.data;
  throw new ConfigurationError(issues);
}

/** Merges sections key by key; other values, maps and lists too, replace each other. */
function merge(path: string, lower: Tree, upper: Tree): Tree {
  const merged: Record<string, unknown> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const under = merged[key];
    const inner = path === '' ? key : `${path}.${key}`;
    const isSection = sections.some((section) => section.path === inner);
    merged[key] = isSection && isTree(under) && isTree(value) ? merge(inner, under, value) : value;
  }
  return merged;
}

function issueLines(issue: Issue, tree: Tree, layers: readonly Layer[]): readonly string[] {
  const path = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const parent = path === '' ? '' : `${path}.`;
    return issue.keys.map((key) => {
      const whole = `${parent}${key}`;
      return `${whole}: unknown${didYouMean(whole, candidatesFor(parent)) || '; --help lists all options'}${origin(whole, layers)}`;
    });
  }
  const value = valueAt(tree, issue.path);
  const hidden = value === undefined || issue.code === 'invalid_key' || touchesSecret(issue.path);
  const shown = hidden ? '' : `, not ${JSON.stringify(value)}`;
  return [`${path}: ${describeIssue(issue, value)}${shown}${origin(path, layers)}`];
}

/** Whether a secret is at the path, above or below it: a section of the wrong type may still contain one. */
function touchesSecret(path: readonly PropertyKey[]): boolean {
  return secretPaths.some((keys) => keys.every((key, index) => index >= path.length || path[index] === key));
}

/** Returns candidates for an unknown key: keys of the same section first. */
function candidatesFor(parent: string): readonly string[] {
  const all = [...settings.map((setting) => setting.path), ...sections.map((section) => section.path).filter(Boolean)];
  const isSibling = (path: string): boolean => path.startsWith(parent) && !path.slice(parent.length).includes('.');
  return [...all.filter(isSibling), ...all.filter((path) => !isSibling(path))];
}

const expected: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  array: 'must be an array of strings',
  object: 'must be an object',
  record: 'must be an object',
};

function describeIssue(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expected[issue.expected] ?? `must be ${issue.expected}`;
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const closest = typeof value === 'string' ? closestName(value, choices) : null;
      return `must be one of ${choices.join(', ')}${closest === null ? '' : ` (did you mean ${closest}?)`}`;
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

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

function valueAt(tree: Tree, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], tree);
}

/** Names the place of an invalid value: the last layer that sets it, or the setting that contains it. */
function origin(path: string, layers: readonly Layer[]): string {
  const setting = settings.find((candidate) => isWithin(path, candidate.path))?.path ?? path;
  const layer = layers.findLast((candidate) => valueAt(candidate.tree, setting.split('.')) !== undefined);
  return layer === undefined ? '' : ` (${layer.originOf(setting)})`;
}

function isWithin(path: string, setting: string): boolean {
  return path === setting || path.startsWith(`${setting}.`) || path.startsWith(`${setting}[`);
}
