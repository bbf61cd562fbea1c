/** The configuration schema as a flat list of settings, for help, reference, environment and command line. */
import { formatPath, type Path, type Schema } from '@pgway/core/internal';
import { configurationJsonSchema } from './json-schema.ts';

export interface Setting {
  /** `gateway.commentsMode`. */
  readonly path: string;
  /** How values are written as text. */
  readonly kind: 'text' | 'number' | 'boolean' | 'list' | 'map';
  /** Whether a boolean may be a number, too. */
  readonly takesNumber: boolean;
  /** The values of an enumeration; otherwise empty. */
  readonly choices: readonly string[];
  readonly nullable: boolean;
  /** Whether error messages hide the value. */
  readonly secret: boolean;
  readonly defaultValue: unknown;
  readonly description: string;
}

/** An object of the configuration with its own settings, as in `authentication` and `authentication.databaseRole`. */
export interface Section {
  /** Empty for the top level. */
  readonly path: string;
  readonly description: string;
  readonly settings: readonly Setting[];
}

const kinds: Readonly<Record<string, Setting['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'map',
};

function toSetting(path: string, node: Schema): Setting {
  const variants = node.anyOf ?? [node];
  const types = variants.flatMap((variant) => variant.type ?? []);
  const type = types.find((name) => name !== 'null') ?? 'string';
  return {
    path,
    kind: kinds[type] ?? 'text',
    takesNumber: type === 'boolean' && types.some((name) => name === 'integer' || name === 'number'),
    choices: variants.flatMap((variant) => variant.enum ?? []),
    nullable: types.includes('null'),
    secret: node.writeOnly === true,
    defaultValue: node.default,
    description: node.description ?? '',
  };
}

/** Returns the section of a schema node, followed by the sections within. */
function readSections(path: string, node: Schema): readonly Section[] {
  const members = Object.entries(node.properties ?? {})
    .filter(([name]) => name !== '$schema')
    .map(([name, member]) => ({ path: path === '' ? name : `${path}.${name}`, member }));
  const settings = members.filter(({ member }) => member.properties === undefined);
  const inner = members.filter(({ member }) => member.properties !== undefined);
  return [
    {
      path,
      description: node.description ?? '',
      settings: settings.map((entry) => toSetting(entry.path, entry.member)),
    },
    ...inner.flatMap((entry) => readSections(entry.path, entry.member)),
  ];
}

export const sections: readonly Section[] = readSections('', configurationJsonSchema);
export const settings: readonly Setting[] = sections.flatMap((section) => section.settings);

/** Returns the path of the setting that a value belongs to, as `gateway.includeNames` for `gateway.includeNames[1]`. */
export function settingAt(path: Path): string {
  const written = formatPath(path);
  return settings.find((setting) => isWithin(written, setting.path))?.path ?? written;
}

/** Whether the value at a path is a secret, or a part of one: also a value in a map or a list. */
export function isSecretAt(path: Path): boolean {
  return nodesOf(path).some((nodes) =>
    nodes.flatMap((node) => [node, ...variantsOf(node)]).some(({ writeOnly }) => writeOnly === true),
  );
}

/** Returns the schema nodes of the configuration, and of each key of the path in turn. */
function nodesOf(path: Path): readonly (readonly Schema[])[] {
  const levels: (readonly Schema[])[] = [[configurationJsonSchema]];
  for (const key of path) levels.push(levels.at(-1)!.flatMap((node) => childrenAt(node, key)));
  return levels;
}

function childrenAt(node: Schema, key: Path[number]): readonly Schema[] {
  return variantsOf(node).flatMap(({ properties, additionalProperties, items }) => {
    if (typeof key === 'number') return items ?? [];
    if (properties !== undefined && Object.hasOwn(properties, key)) return properties[String(key)]!;
    return typeof additionalProperties === 'object' ? additionalProperties : [];
  });
}

function variantsOf(node: Schema): readonly Schema[] {
  return node.anyOf ?? [node];
}

function isWithin(path: string, setting: string): boolean {
  return path === setting || path.startsWith(`${setting}.`) || path.startsWith(`${setting}[`);
}

/** Returns `PGWAY_GATEWAY_COMMENTS_MODE` for `gateway.commentsMode`. */
export function variableName(path: string): string {
  const words = path.replaceAll('.', '_').replace(/(?<=[a-z])(?=[A-Z])/g, '_');
  return `PGWAY_${words.toUpperCase()}`;
}

/** Returns the same text for `gateway.commentsMode` and `gateway.comments-mode`. */
export function normalizeKey(path: string): string {
  return path.replaceAll('-', '').toLowerCase();
}

/** Describes the values of a setting, for help and reference: `ignore|parseAll|null`. */
export function describeValues(setting: Setting): string {
  const kinds =
    setting.choices.length === 0 || setting.kind !== 'text'
      ? [setting.kind, ...(setting.takesNumber ? ['number'] : [])]
      : [];
  const values = [...setting.choices, ...kinds].join('|');
  return setting.nullable && setting.kind !== 'list' ? `${values}|null` : values;
}

/** Parses the text of a variable or an argument. Invalid text is returned unchanged, for the validation to report. */
export function parseSetting(setting: Setting, text: string): unknown {
  if (setting.nullable && text === 'null') return null;
  switch (setting.kind) {
    case 'text':
      return text;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return parseFlag(setting, text);
    case 'list':
      return text.startsWith('[') ? jsonOrText(text) : splitList(text);
    case 'map':
      return jsonOrText(text);
  }
}

function parseFlag({ takesNumber }: Setting, text: string): unknown {
  if (text.startsWith('[')) return jsonOrText(text);
  if (takesNumber && /^\d+$/.test(text)) return Number(text);
  return ['true', 'false'].includes(text) ? text === 'true' : text;
}

function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
