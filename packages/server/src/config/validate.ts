import type { z } from 'zod';
import { isTree } from './layers.ts';
import type { Layer, Tree } from './layers.ts';
import { formatPath, type Path, valueAt } from './path.ts';
import { closestName, didYouMean } from './suggestion.ts';
import { configurationSchema } from './schema.ts';
import type { Configuration } from './schema.ts';
import { isSecretAt, keysAt, sections, settingAt, settings } from './settings.ts';

type Issue = z.core.$ZodIssue;

/** The keys of each setting whose value never appears in error messages. */
const secretPaths = settings.filter((setting) => setting.secret).map((setting) => setting.path.split('.'));

/** A configuration that is valid by the schema. */
export interface ValidConfiguration {
  readonly configuration: Configuration | null;
  /** Every issue of the layers and of their values; the configuration is null when there is any. */
  readonly issues: readonly string[];
}

/** Merges the layers, later ones over earlier ones. */
export function mergeLayers(layers: readonly Layer[]): Tree {
  return layers.reduce<Tree>((lower, layer) => merge([], lower, layer), {});
}

/**
 * Validates the merged layers.
 * @param hidden the paths of values that were encrypted, which issues do not show
 */
export function validateLayers(layers: readonly Layer[], tree: Tree, hidden: readonly Path[] = []): ValidConfiguration {
  // Generated validators pay off for many values; a configuration is validated once.
  const result = configurationSchema.safeParse(tree, { jitless: true });
  const found = result.success
    ? []
    : result.error.issues.flatMap((issue) => issueLines(issue, { tree, layers, hidden }));
  const issues = [...layers.flatMap((layer) => layer.issues), ...found];
  return { configuration: result.success && issues.length === 0 ? result.data : null, issues };
}

/** Merges sections key by key, and maps of files too. Other values, such as lists, replace each other. */
function merge(path: Path, lower: Tree, { tree, mergesMaps }: Pick<Layer, 'tree' | 'mergesMaps'>): Tree {
  const merged = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(tree)) {
    const under = merged.get(key);
    const inner = [...path, key];
    const isMerged = mergesMaps || isSection(inner);
    merged.set(
      key,
      isMerged && isTree(under) && isTree(value) ? merge(inner, under, { tree: value, mergesMaps }) : value,
    );
  }
  return Object.fromEntries(merged);
}

function isSection(path: Path): boolean {
  const written = formatPath(path);
  return sections.some((section) => section.path === written);
}

interface ValidatedTree {
  readonly tree: Tree;
  readonly layers: readonly Layer[];
  readonly hidden: readonly Path[];
}

function issueLines(issue: Issue, { tree, layers, hidden: encrypted }: ValidatedTree): readonly string[] {
  const path = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const parent = path === '' ? '' : `${path}.`;
    return issue.keys.map((key) => {
      const whole = `${parent}${key}`;
      const hint = isSection(issue.path)
        ? didYouMean(whole, candidatesFor(parent)) || '; --help lists all options'
        : hintForEntry(key, keysAt(issue.path));
      return `${whole}: unknown${hint}${placeOf([...issue.path, key], layers)}`;
    });
  }
  const value = valueAt(tree, issue.path);
  const isSecret = touches(issue.path, secretPaths) || isSecretAt(issue.path) || touches(issue.path, encrypted);
  const hidden = value === undefined || issue.code === 'invalid_key' || isSecret;
  const shown = hidden ? '' : `, not ${JSON.stringify(value)}`;
  return [`${path}: ${describeIssue(issue, value)}${shown}${placeOf(issue.path, layers)}`];
}

/** The hint for an unknown key of an object in a map or list, which `--help` does not list. */
function hintForEntry(key: string, keys: readonly string[]): string {
  return didYouMean(key, keys) || `; use ${keys.join(', ')}`;
}

/** Whether a secret is at the path, above or below it: a section of the wrong type may still contain one. */
function touches(path: Path, secrets: readonly Path[]): boolean {
  return secrets.some((keys) => keys.every((key, index) => index >= path.length || path[index] === key));
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

/** Names the place of a value, as in ` (in pgway.json:3)`: the last layer that sets it, or the setting that contains it. */
export function placeOf(path: Path, layers: readonly Layer[]): string {
  const layer = layers.findLast((candidate) => valueAt(candidate.tree, path) !== undefined) ?? containing(path, layers);
  return layer === undefined ? '' : ` (${layer.relation} ${layer.originOf(pathIn(layer, path))})`;
}

/** Returns the last layer that sets what contains the value. */
function containing(path: Path, layers: readonly Layer[]): Layer | undefined {
  const outer = path.slice(0, -1);
  return outer.length === 0 ? undefined : layers.findLast((candidate) => valueAt(candidate.tree, outer) !== undefined);
}

/** Variables and options set whole settings; files have a line for each value. */
function pathIn(layer: Layer, path: Path): Path {
  if (layer.relation === 'in') return path;
  return settingAt(path).split('.');
}

/** Returns the places of each setting that a layer sets, by its path. Maps that several files merge have several. */
export function settingOrigins(layers: readonly Layer[]): ReadonlyMap<string, string> {
  const found = settings.flatMap(({ path }) => {
    const places = placesOf(path.split('.'), layers);
    return places.length === 0 ? [] : [[path, places.join(', ')] as const];
  });
  return new Map(found);
}

function placesOf(path: Path, layers: readonly Layer[]): readonly string[] {
  const places: string[] = [];
  for (const layer of layers.toReversed()) {
    const value = valueAt(layer.tree, path);
    if (value === undefined) continue;
    places.unshift(layer.originOf(path));
    if (!layer.mergesMaps || !isTree(value)) break;
  }
  return places;
}
