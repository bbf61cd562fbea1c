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

/** @throws ProviderError for a profile without an id */
export function toIdentity(claims: ProviderObject, settings: ProviderSettings): ExternalIdentity {
  // OAuth 2 providers name their users `id`, some of them by a number.
  const subject = claims['sub'] ?? claims['id'];
  const isId = (typeof subject === 'string' && subject !== '') || Number.isSafeInteger(subject);
  if (!isId) throw new ProviderError('invalid-response', 'the profile of the user has no id');
  requireIntactIdentifiers(claims);
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

/** Claims that identify a user, a tenant or a session at the provider. */
const identifiers = ['sub', 'id', 'iss', 'oid', 'tid', 'sid', 'login', 'preferred_username', 'upn', 'email'];

/**
 * An identifier without some of its characters would be that of another user.
 * @throws ProviderError for one that PostgreSQL could not store as it is
 */
function requireIntactIdentifiers(claims: ProviderObject): void {
  const broken = identifiers.find((name) => {
    const value = claims[name];
    return typeof value === 'string' && unstorable.test(value);
  });
  if (broken === undefined) return;
  throw new ProviderError(
    'invalid-response',
    `the claim ${broken} of the user has a NUL character or an unpaired surrogate, which PostgreSQL cannot store`,
  );
}

const unstorable = /[\0\p{Cs}]/u;
const maxTextLength = 1000;

/** Returns a text that can be a value of PostgreSQL and a line of a log; null for any other value. */
function textOf(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxTextLength;
  return isText && !/[\p{Cc}\p{Cs}]/u.test(value) ? value : null;
}

/** Drops NUL and unpaired surrogates, which `jsonb` refuses, from texts that identify nothing. */
function toJson(claims: ProviderObject): string {
  return JSON.stringify(claims, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(new RegExp(unstorable, 'gu'), '') : value,
  );
}

export function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
