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

/**
 * Returns the claims of the ID token with those of the userinfo endpoint that it lacks. An address and whether it is verified come
 * from the same source.
 */
export function mergeClaims(idToken: ProviderObject, userinfo: ProviderObject): ProviderObject {
  const { email, email_verified: verified, ...others } = userinfo;
  return { ...others, ...(idToken['email'] === undefined ? { email, email_verified: verified } : {}), ...idToken };
}

/** Adds the primary address of a list, such as `[{ "email": …, "primary": true, "verified": true }]`. */
export function withPrimaryEmail(profile: ProviderObject, emails: unknown): ProviderObject {
  const list: readonly unknown[] = Array.isArray(emails) ? emails : [];
  const primary = list.filter(isObject).find((entry) => entry['primary'] === true);
  if (primary === undefined) return profile;
  return { ...profile, email: primary['email'], email_verified: primary['verified'] === true };
}

/** @throws ProviderError for a profile without an id */
export function toIdentity(claims: ProviderObject, settings: ProviderSettings): ExternalIdentity {
  // OAuth 2 providers name their users `id`, some of them by a number.
  const subject = claims['sub'] ?? claims['id'];
  const isId = (typeof subject === 'string' && subject !== '') || Number.isSafeInteger(subject);
  if (!isId) throw new ProviderError('invalid-response', 'the profile of the user has no id');
  const email = textOf(claims['email']);
  return {
    email: email !== null && isVerified(claims, settings) ? email : null,
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? textOf(claims['login']),
    json: toJson({ ...claims, sub: String(subject) }),
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

const maxTextLength = 1000;

/** Returns a text that can be a value of PostgreSQL and a line of a log; null for any other value. */
function textOf(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxTextLength;
  return isText && !/[\p{Cc}\p{Cs}]/u.test(value) ? value : null;
}

/** Drops NUL and unpaired surrogates, which `jsonb` refuses. */
function toJson(claims: ProviderObject): string {
  return JSON.stringify(claims, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(/[\0\p{Cs}]/gu, '') : value,
  );
}

export function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
