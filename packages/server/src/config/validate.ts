import { isTree } from './layers.ts';
import type { Layer, Tree } from './layers.ts';
import { describeFault, type Fault, formatPath, type Path, withoutValue } from '@pgway/core/internal';
import { valueAt } from './path.ts';
import { removedSettings } from './removed-settings.ts';
import { didYouMean } from './suggestion.ts';
import { configurationSchema } from './schema.ts';
import { resolveSection } from './schema/section.ts';
import type { Configuration } from './schema.ts';
import { isSecretAt, sections, settingAt, settings } from './settings.ts';

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
  const faults = configurationSchema.validate(tree, []);
  const found = faults.map((fault) => issueLine(fault, { tree, layers, hidden }));
  const issues = [...layers.flatMap((layer) => layer.issues), ...found];
  return { configuration: issues.length === 0 ? resolveSection(configurationSchema, tree) : null, issues };
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

/** Returns the line of a fault, with the place of the value. */
function issueLine(fault: Fault, { tree, layers, hidden }: ValidatedTree): string {
  const place = placeOf(fault.path, layers);
  if (fault.isUnknown === true && isSection(fault.path.slice(0, -1))) {
    return `${formatPath(fault.path)}: unknown option${hintFor(fault.path)}${place}`;
  }
  const isHidden = touches(fault.path, secretPaths) || isSecretAt(fault.path) || touches(fault.path, hidden);
  const isAbsent = valueAt(tree, fault.path) === undefined;
  return `${describeFault(isHidden || isAbsent ? withoutValue(fault) : fault)}${place}`;
}

function hintFor(path: Path): string {
  const written = formatPath(path);
  const removed = Object.hasOwn(removedSettings, written) ? `; ${removedSettings[written]!}` : '';
  return removed || didYouMean(written, candidatesFor(formatPath(path.slice(0, -1)))) || '; --help lists all options';
}

/** Whether a secret is at the path, above or below it: a section of the wrong type may still contain one. */
function touches(path: Path, secrets: readonly Path[]): boolean {
  return secrets.some((keys) => keys.every((key, index) => index >= path.length || path[index] === key));
}

/** Returns candidates for an unknown key: keys of the same section first. */
function candidatesFor(section: string): readonly string[] {
  const parent = section === '' ? '' : `${section}.`;
  const all = [...settings.map((setting) => setting.path), ...sections.map(({ path }) => path).filter(Boolean)];
  const isSibling = (path: string): boolean => path.startsWith(parent) && !path.slice(parent.length).includes('.');
  return [...all.filter(isSibling), ...all.filter((path) => !isSibling(path))];
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
