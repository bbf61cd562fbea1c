import type { GatewayRequest, HeaderList, Problem } from '@pgway/core';
import { postgrestProblem } from './postgrest-problem.ts';
import type { TimeZones } from './time-zones.ts';

/** The preferences of a request (RFC 7240) with the values of PostgREST; null: not given. */
export interface Preferences {
  readonly resolution: 'merge-duplicates' | 'ignore-duplicates' | null;
  readonly missing: 'default' | 'null' | null;
  readonly return: 'minimal' | 'headers-only' | 'representation' | null;
  readonly count: 'exact' | 'planned' | 'estimated' | null;
  readonly tx: 'commit' | 'rollback' | null;
  readonly handling: 'strict' | 'lenient' | null;
  /** The name of the time zone of values such as `timestamptz`. */
  readonly timezone: string | null;
  /** The number of rows that a request may change, or null. Without `handling=strict` it has no effect, as in PostgREST. */
  readonly maxAffected: number | null;
}

/** The names in the order of `Preference-Applied`. */
const values = {
  resolution: ['merge-duplicates', 'ignore-duplicates'],
  missing: ['default', 'null'],
  return: ['minimal', 'headers-only', 'representation'],
  count: ['exact', 'planned', 'estimated'],
  tx: ['commit', 'rollback'],
  handling: ['strict', 'lenient'],
} as const;

type ListedPreference = keyof typeof values;
const names = Object.keys(values) as readonly ListedPreference[];

const none: Preferences = {
  resolution: null,
  missing: null,
  return: null,
  count: null,
  tx: null,
  handling: null,
  timezone: null,
  maxAffected: null,
};

export interface PreferenceOptions {
  /** Whether clients may decide how the transaction ends. Otherwise `tx` is unknown. */
  readonly allowsOverride: boolean;
  /** Those of the server. */
  readonly timeZones: TimeZones;
}

/**
 * Reads the header `Prefer`. Of a preference that is given twice, the first one counts.
 * @throws Problem 22023 for an unknown time zone, PGRST122 for other unknown preferences with `handling=strict`
 */
export function readPreferences(request: GatewayRequest, options: PreferenceOptions): Preferences {
  const header = request.header('prefer');
  if (header === undefined) return none;
  const { found, unknown } = parseHeader(header, options);
  const preferences = { ...none, ...found } as Preferences;
  if (preferences.handling === 'strict' && unknown.length > 0) {
    throw postgrestProblem(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ').slice(0, 200)}`,
    });
  }
  return preferences;
}

interface ParsedHeader {
  readonly found: Readonly<Record<string, string | number>>;
  readonly unknown: readonly string[];
}

function parseHeader(header: string, options: PreferenceOptions): ParsedHeader {
  const found: Record<string, string | number> = {};
  const unknown: string[] = [];
  let hasTimeZone = false;
  for (const preference of header.split(',').map((part) => part.trim())) {
    // Of several time zones, only the first one counts.
    const isZone = preference.startsWith(zonePrefix);
    if (preference === '' || (isZone && hasTimeZone)) continue;
    hasTimeZone ||= isZone;
    const [name, value] = parsePreference(preference, options) ?? [null, null];
    if (name === null) unknown.push(preference);
    else found[name] ??= value;
  }
  return { found, unknown };
}

function parsePreference(
  preference: string,
  { allowsOverride, timeZones }: PreferenceOptions,
): readonly [name: keyof Preferences, value: string | number] | null {
  if (preference.startsWith(zonePrefix)) {
    const zone = preference.slice(zonePrefix.length);
    if (!isTimeZone(zone, timeZones)) throw unknownZone(zone);
    return ['timezone', zone];
  }
  const [, key = '', value = ''] = /^([a-z-]+)=(.*)$/.exec(preference) ?? [];
  if (key === 'max-affected') return /^\d{1,15}$/.test(value) ? ['maxAffected', Number(value)] : null;
  const name = names.find((each) => each === key);
  if (name === undefined || (name === 'tx' && !allowsOverride)) return null;
  return (values[name] as readonly string[]).includes(value) ? [name, value] : null;
}

/**
 * Hours, and quarters of an hour. PostgreSQL decides about the sign: `-4` and, as in POSIX, `+05:30` are west of Greenwich. It takes almost every
 * text for a time zone, and a session keeps each one that it has used: the number of them is limited by their form.
 */
const offset = /^[+-]?(?:0?\d|1[0-5])(?::(?:00|15|30|45))?$/;

const zonePrefix = 'timezone=';

function isTimeZone(value: string, timeZones: TimeZones): boolean {
  return offset.test(value) || timeZones.has(value.toLowerCase());
}

/** The error that PostgreSQL has for the setting `TimeZone`. */
function unknownZone(zone: string): Problem {
  const shown = zone.slice(0, 200);
  return hasSeconds.test(zone)
    ? postgrestProblem(400, '22023', `time zone "${shown}" appears to use leap seconds`, {
        details: 'PostgreSQL does not support leap seconds.',
      })
    : postgrestProblem(400, '22023', `invalid value for parameter "TimeZone": "${shown}"`);
}

const hasSeconds = /^[+-]?\d{1,2}:[0-5]?\d:(?!00$)[0-5]\d$/;

/** Returns the header `Preference-Applied` of those preferences that had an effect; empty for none. */
export function preferenceApplied(
  preferences: Preferences,
  applied: readonly (ListedPreference | 'maxAffected')[],
): HeaderList {
  if (preferences === none) return [];
  const { handling, timezone, maxAffected } = preferences;
  const listed = names.flatMap((name) => {
    const value = preferences[name];
    if (value === null || !applied.includes(name)) return [];
    return [`${name}=${value}`];
  });
  const limit =
    maxAffected !== null && handling === 'strict' && applied.includes('maxAffected')
      ? [`max-affected=${maxAffected}`]
      : [];
  const all = [...listed, ...(timezone === null ? [] : [`timezone=${timezone}`]), ...limit];
  return all.length === 0 ? [] : ['preference-applied', all.join(', ')];
}
