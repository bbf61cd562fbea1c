import { isStorable } from '@pgway/core/internal';
import { ProviderError } from './provider-error.ts';
import type { ProviderSettings } from './provider-settings.ts';

/** A JSON object of a provider. */
export type ProviderObject = Readonly<Record<string, unknown>>;

/** The user of a provider, as the commands get it. */
export interface ExternalIdentity {
  /** Null unless the provider has verified the address. */
  readonly email: string | null;
  readonly name: string | null;
  /** JSON text of an object with `sub`, the id of the user at the provider. */
  readonly json: string;
}

/** An address, and the claims that vouch for it. */
const addressClaims: readonly string[] = ['email', 'email_verified', 'xms_edov'];

/**
 * Returns the claims of the ID token with those of the userinfo endpoint that it lacks. An address and whether it is verified come
 * from the same source.
 */
export function mergeClaims(idToken: ProviderObject, userinfo: ProviderObject): ProviderObject {
  const isOfAddress = ([name]: readonly [string, unknown]): boolean => addressClaims.includes(name);
  const address = Object.entries(idToken['email'] === undefined ? userinfo : idToken).filter(isOfAddress);
  const others = Object.entries({ ...userinfo, ...idToken }).filter((entry) => !isOfAddress(entry));
  return Object.fromEntries([...others, ...address]);
}

/** Adds the primary address of a list, such as `[{ "email": …, "primary": true, "verified": true }]`. */
export function withPrimaryEmail(profile: ProviderObject, emails: unknown): ProviderObject {
  const list: readonly unknown[] = Array.isArray(emails) ? emails : [];
  const primary = list.filter(isObject).find((entry) => entry['primary'] === true);
  if (primary === undefined) return profile;
  return { ...profile, email: primary['email'], email_verified: primary['verified'] === true };
}

/** @throws ProviderError for a profile without an id, or with a claim that cannot be stored as it is */
export function toIdentity(claims: ProviderObject, settings: ProviderSettings): ExternalIdentity {
  // OAuth 2 providers name their users `id`, some of them by a number.
  const subject = claims['sub'] ?? claims['id'];
  const isId = (typeof subject === 'string' && subject !== '') || Number.isSafeInteger(subject);
  if (!isId) throw new ProviderError('invalid-response', 'the profile of the user has no id');
  const storable = storableClaims(claims);
  const email = textOf(claims['email']);
  return {
    email: email !== null && isVerified(claims, settings) ? email : null,
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? textOf(claims['login']),
    json: JSON.stringify({ ...storable, sub: String(subject) }),
  };
}

/**
 * Whether the provider vouches for the address. Microsoft lets an administrator set any address; `xms_edov` tells that the owner of
 * its domain is verified.
 */
function isVerified(claims: ProviderObject, { preset, trustEmail }: ProviderSettings): boolean {
  const verified = preset === 'microsoft' ? claims['xms_edov'] : claims['email_verified'];
  if (verified === undefined || verified === null) return trustEmail;
  return verified === true || verified === 1 || verified === 'true' || verified === '1';
}

/** Claims that are shown to people and identify nothing (OpenID Connect Core 1.0, section 5.1; `bio` of GitHub). */
const displayed: ReadonlySet<string> = new Set(['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'bio']);

/**
 * Returns the claims without displayed texts that PostgreSQL could not store. All others may identify a user, a tenant or a group: without
 * some of its characters, an identifier would be another one.
 * @throws ProviderError for another claim with such a text
 */
function storableClaims(claims: ProviderObject): ProviderObject {
  const broken = Object.entries(claims).filter((entry) => !isStorable(entry));
  const identifier = broken.find(([name]) => !displayed.has(name));
  if (identifier !== undefined) {
    throw new ProviderError(
      'invalid-response',
      `the claim ${JSON.stringify(identifier[0])} of the user has a NUL character or an unpaired surrogate, which PostgreSQL cannot store`,
    );
  }
  const dropped = new Set(broken.map(([name]) => name));
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !dropped.has(name)));
}

const maxTextLength = 1000;

/** Returns a text that can be a value of PostgreSQL and a line of a log; null for any other value. */
function textOf(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxTextLength;
  return isText && !/[\p{Cc}\p{Cs}]/u.test(value) ? value : null;
}

export function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
