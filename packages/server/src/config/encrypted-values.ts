/** Values of the configuration that `pgway encrypt` has encrypted with `dataProtection.secret`. */
import { createTextEncryption, type TextEncryption, type TextEncryptionOptions } from '@pgway/core/internal';
import { isTree, type Layer, type Tree } from './layers.ts';
import { settings } from './settings.ts';
import { formatPath, type Path } from '@pgway/core/internal';
import { valueAt } from './path.ts';
import { placeOf } from './validate.ts';

/** The start of an encrypted value. */
export const encryptedPrefix = 'encrypted:';

/**
 * Returns the encryption of values.
 * @throws KeyRingError for a secret that is too short
 */
export function valueEncryption(
  options: Pick<TextEncryptionOptions, 'secret' | 'previousSecrets' | 'application'>,
): TextEncryption {
  return createTextEncryption({ ...options, purpose: 'configuration' });
}

export interface DecryptedValues {
  readonly tree: Tree;
  /** The paths of the values that were encrypted. */
  readonly paths: readonly Path[];
  /** One line for each value that cannot be decrypted. */
  readonly issues: readonly string[];
}

/** Decrypts the values of the merged layers. A value that a later layer replaces needs no secret. */
export async function decryptValues(tree: Tree, layers: readonly Layer[]): Promise<DecryptedValues> {
  const all = encryptedTexts(tree, []);
  // Without the secret, the other values would be reported for nothing.
  const found = all.some(isSecret) ? all.filter(isSecret) : all;
  const decrypt = createDecrypt(tree);
  const results = await Promise.all(found.map(async (value) => ({ path: value.path, ...(await decrypt(value)) })));
  return {
    // A value that cannot be decrypted has its issue already: it is left out, as if it were not set.
    tree: results.reduce((inner, { path, text }) => replaceAt(inner, path, text ?? undefined) as Tree, tree),
    paths: all.map(({ path }) => path),
    issues: results.flatMap(({ path, text, fault }) =>
      text === null ? [`${formatPath(path)}: ${fault}${placeOf(path, layers)}`] : [],
    ),
  };
}

interface EncryptedText {
  readonly path: Path;
  readonly text: string;
}

function isSecret({ path }: EncryptedText): boolean {
  return path[0] === 'dataProtection' && (path[1] === 'secret' || path[1] === 'previousSecrets');
}

/** Returns the encrypted texts at and below a value. */
function encryptedTexts(value: unknown, path: Path): readonly EncryptedText[] {
  if (typeof value === 'string') return value.startsWith(encryptedPrefix) ? [{ path, text: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => encryptedTexts(item, [...path, index]));
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => encryptedTexts(inner, [...path, key]));
}

function replaceAt(value: unknown, [part, ...rest]: Path, text: string | undefined): unknown {
  if (part === undefined) return text;
  if (Array.isArray(value)) return value.map((item, index) => (index === part ? replaceAt(item, rest, text) : item));
  return Object.fromEntries(
    Object.entries(value as Tree).map(([key, inner]) => [key, key === part ? replaceAt(inner, rest, text) : inner]),
  );
}

function defaultOf(path: string): unknown {
  return settings.find((setting) => setting.path === path)?.defaultValue;
}

type Decrypt = (
  value: EncryptedText,
) => Promise<{ readonly text: string; readonly fault?: never } | { readonly text: null; readonly fault: string }>;

const faults = {
  isSecret: 'is encrypted, but decrypts the other values; set it as it is, such as by PGWAY_DATA_PROTECTION_SECRET',
  noSecret:
    'is encrypted, and dataProtection.secret is missing; set it, such as by PGWAY_DATA_PROTECTION_SECRET, to the secret of pgway encrypt',
  other: 'cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or name',
} as const;

function createDecrypt(tree: Tree): Decrypt {
  const secret = valueAt(tree, ['dataProtection', 'secret']);
  const previous = valueAt(tree, ['dataProtection', 'previousSecrets']);
  const previousSecrets = Array.isArray(previous) ? previous.filter((text) => typeof text === 'string') : [];
  const application = valueAt(tree, ['name']) ?? defaultOf('name');
  const fail = (fault: string): ReturnType<Decrypt> => Promise.resolve({ text: null, fault });
  return async (value) => {
    if (isSecret(value)) return fail(faults.isSecret);
    if (typeof secret !== 'string' || secret === '') return fail(faults.noSecret);
    try {
      const encryption = valueEncryption({ secret, previousSecrets, application: String(application) });
      const text = await encryption.decrypt(value.text.slice(encryptedPrefix.length));
      return text === null ? await fail(faults.other) : { text };
    } catch (error) {
      return fail(`cannot be decrypted: ${(error as Error).message}`);
    }
  };
}
