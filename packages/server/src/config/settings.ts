/** The leaves of the configuration as a flat list: what help, reference, environment and command line are made from. */
import { configurationJsonSchema } from './schema.ts';

export interface Setting {
  /** `gateway.commentsMode`. */
  readonly path: string;
  /** What its values look like when they are written as text. */
  readonly kind: 'text' | 'number' | 'boolean' | 'list' | 'map';
  /** The values that it can take, when they can be listed. */
  readonly choices: readonly string[];
  readonly nullable: boolean;
  readonly fallback: unknown;
  readonly description: string;
}

export interface Section {
  /** Empty for the top level. */
  readonly path: string;
  readonly description: string;
  readonly settings: readonly Setting[];
}

interface Node {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly default?: unknown;
  readonly description?: string;
}

const kinds: Readonly<Record<string, Setting['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'map',
};

function settingOf(path: string, node: Node): Setting {
  const variants = node.anyOf ?? [node];
  const types = variants.flatMap((variant) => variant.type ?? []);
  const type = types.find((name) => name !== 'null') ?? 'string';
  return {
    path,
    kind: kinds[type] ?? 'text',
    choices: variants.flatMap((variant) => variant.enum ?? []),
    nullable: types.includes('null'),
    fallback: node.default,
    description: node.description ?? '',
  };
}

function readSections(): readonly Section[] {
  const root = configurationJsonSchema() as Node;
  const top: Setting[] = [];
  const sections: Section[] = [];
  for (const [name, node] of Object.entries(root.properties ?? {})) {
    if (name === '$schema') continue;
    if (node.properties === undefined) {
      top.push(settingOf(name, node));
      continue;
    }
    const settings = Object.entries(node.properties).map(([key, leaf]) => settingOf(`${name}.${key}`, leaf));
    sections.push({ path: name, description: node.description ?? '', settings });
  }
  return [{ path: '', description: 'Where the database is and where to listen.', settings: top }, ...sections];
}

export const sections: readonly Section[] = readSections();
export const settings: readonly Setting[] = sections.flatMap((section) => section.settings);

/** `gateway.commentsMode` → `PGWAY_GATEWAY_COMMENTS_MODE`. */
export function variableOf(path: string): string {
  const words = path.replaceAll('.', '_').replace(/(?<=[a-z])(?=[A-Z])/g, '_');
  return `PGWAY_${words.toUpperCase()}`;
}

/** The form in which `gateway.commentsMode` and `gateway.comments-mode` are the same. */
export function looseForm(path: string): string {
  return path.replaceAll('-', '').toLowerCase();
}

/** How the values of a setting look, for help and reference. */
export function valuesOf(setting: Setting): string {
  const values = setting.choices.length > 0 ? setting.choices.join('|') : setting.kind;
  return setting.nullable && setting.kind !== 'list' ? `${values}|null` : values;
}

/**
 * Turns the text of a variable or an argument into a value of the setting. Text that does not fit stays text: the check
 * of the whole configuration then names it.
 */
export function parseSetting(setting: Setting, text: string): unknown {
  if (setting.nullable && text === 'null') return null;
  switch (setting.kind) {
    case 'text':
      return text;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return ['true', 'false'].includes(text) ? text === 'true' : text;
    case 'list':
      return text.startsWith('[') ? jsonOrText(text) : listOf(text);
    case 'map':
      return jsonOrText(text);
  }
}

function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
