/** The settings that take effect, with their places, for `pgway config`. */
import type { LoadedConfiguration } from './load.ts';
import { valueAt } from './path.ts';
import { settings } from './settings.ts';

export interface EffectiveSetting {
  readonly path: string;
  /** Secrets are masked. */
  readonly value: unknown;
  /** The place of the value, as in `pgway.json:3`; null: the default. */
  readonly origin: string | null;
}

const mask = '***';
/** The password of a URL, also in settings that are no secrets. */
const urlPassword = /(:\/\/[^\s:/@]*):[^\s/]*@/g;

/** @param all includes the settings that no source sets */
export function effectiveSettings(
  { configuration, origins, encrypted }: Pick<LoadedConfiguration, 'configuration' | 'origins' | 'encrypted'>,
  all: boolean,
): readonly EffectiveSetting[] {
  return settings.flatMap(({ path, secret }) => {
    const origin = origins.get(path) ?? null;
    if (origin === null && !all) return [];
    const value = valueAt(configuration, path.split('.'));
    return [{ path, value: masked(value, secret || encrypted.has(path)), origin }];
  });
}

/** Masks all strings of a secret, whose keys remain. */
function masked(value: unknown, secret: boolean): unknown {
  if (typeof value === 'string') return secret ? mask : value.replace(urlPassword, `$1:${mask}@`);
  if (Array.isArray(value)) return value.map((item) => masked(item, secret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner, secret)]));
}
