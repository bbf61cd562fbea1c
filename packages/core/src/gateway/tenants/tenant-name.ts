import type { ExternalSignIn } from '../external-sign-in.ts';

/** At most 63 characters, as a label of a host name and the name of a database have. */
const tenantName = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/** The rule, for messages. */
export const tenantNameRule =
  'is not the name of a tenant: 1 to 63 lower-case letters, digits, "-" and "_", with a letter or digit at both ends';

export function isTenantName(text: string): boolean {
  return tenantName.test(text);
}

/** Returns the tenant that a `Host` header names; null for another host. */
export type HostMatcher = (host: string | undefined) => string | null;

/** The placeholder of patterns and templates. */
export const placeholder = '{tenant}';

/** Returns the external sign-in of a tenant: the placeholder in its origin is the name. */
export function withTenantOrigin(externalSignIn: ExternalSignIn | null, tenant: string): ExternalSignIn | null {
  const origin = externalSignIn?.publicOrigin ?? null;
  return externalSignIn === null || origin === null
    ? externalSignIn
    : { ...externalSignIn, publicOrigin: origin.replaceAll(placeholder, tenant) };
}

/** Host names in lower case. The placeholder is a part of the first label. */
const pattern = /^([a-z0-9-]*)\{tenant\}([a-z0-9-]*(?:\.[a-z0-9-]+)*)$/;

/**
 * Compiles a pattern such as `{tenant}.example.com`. The port of a request, and a dot at the end of its host name, do not matter.
 * @throws RangeError for an invalid pattern
 */
export function compileHostPattern(text: string): HostMatcher {
  const match = pattern.exec(text.toLowerCase());
  if (match === null) {
    throw new RangeError(
      `must be a host name with ${placeholder} in its first label, such as ${placeholder}.example.com`,
    );
  }
  const [, prefix = '', suffix = ''] = match;
  return (host) => {
    if (host === undefined || host.length > maxHostLength) return null;
    const name = host.toLowerCase().replace(portAndDot, '');
    if (name.length <= prefix.length + suffix.length) return null;
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) return null;
    const tenant = name.slice(prefix.length, name.length - suffix.length);
    return isTenantName(tenant) ? tenant : null;
  };
}

/** A host name has at most 253 characters (RFC 1035), and a port follows. */
const maxHostLength = 260;
const portAndDot = /\.?(?::\d{1,5})?$/;
