/** The settings that take effect, with their places, for `pgway config`. */
import type { LoadedConfiguration } from './load.ts';
import type { Path } from '@pgway/core/internal';
import { valueAt } from './path.ts';
import { isSecretAt, settings } from './settings.ts';

export interface EffectiveSetting {
  readonly path: string;
  /** Secrets are masked. */
  readonly value: unknown;
  /** The place of the value, as in `pgway.json:3`; null: the default. */
  readonly origin: string | null;
}

const mask = '***';
/** The password of a URL, also in settings that are not secrets. */
const urlPassword = /(:\/\/[^\s:/@]*):[^\s/]*@/g;

/** @param all includes the settings that no source sets */
export function effectiveSettings(
  { configuration, origins, encrypted }: Pick<LoadedConfiguration, 'configuration' | 'origins' | 'encrypted'>,
  all: boolean,
): readonly EffectiveSetting[] {
  return settings.flatMap(({ path }) => {
    const origin = origins.get(path) ?? null;
    if (origin === null && !all) return [];
    const keys = path.split('.');
    return [{ path, value: masked(valueAt(configuration, keys), keys, encrypted.has(path)), origin }];
  });
}

/**
 * Masks all strings of a secret, whose keys remain.
 * @param isEncrypted whether the value was encrypted in its source, so that it is a secret anyway
 */
function masked(value: unknown, path: Path, isEncrypted: boolean): unknown {
  if (typeof value === 'string') {
    return isEncrypted || isSecretAt(path) ? mask : value.replace(urlPassword, `$1:${mask}@`);
  }
  if (Array.isArray(value)) return value.map((item, index) => masked(item, [...path, index], isEncrypted));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, masked(inner, [...path, key], isEncrypted)]),
  );
}
