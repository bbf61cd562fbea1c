import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { someText } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import type { SettingKey } from '../comment/setting.ts';
import {
  type MemberAnnotation,
  memberAnnotation,
  type ParsedValue,
  type ValueAnnotation,
  valueAnnotation,
} from '../comment/value-annotation.ts';
import type { BasicAuthentication } from '../endpoint.ts';
import { fromDefault, type Resolved } from '../origin.ts';

type User = Pick<BasicAuthentication, 'user' | 'hash'>;

/** Reads `basic_auth` or `basic_auth <user> <hash>`. */
function parse(parsed: ParsedAnnotation): ParsedValue<User> | AnnotationError {
  const [user, hash, ...leftover] = parsed.args;
  if (user !== undefined && hash === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} needs a password hash after the user; write ${parsed.name} <user> <password hash>`,
    };
  }
  const value = { user: user ?? null, hash: hash ?? null };
  if (leftover.length === 0) return { value };
  const message = `${parsed.name} takes a user and a password hash only`;
  return { value, problem: { code: 'extra-arguments', message, unusedArguments: leftover } };
}

/** Returns a setting that requires HTTP Basic authentication, or null. */
export function findBasicAuthentication(builder: EndpointBuilder): SettingKey | null {
  const settings = [basicAuthentication, basicAuthenticationRealm, basicAuthenticationCommand];
  return settings.find((setting) => builder.isSet(setting)) ?? null;
}

function resolve(builder: EndpointBuilder): Resolved<BasicAuthentication | null> {
  const first = findBasicAuthentication(builder);
  if (first === null) return fromDefault(null, 'no basic_authentication line');
  const { user, hash } = builder.get(basicAuthentication) ?? { user: null, hash: null };
  const [realm, command] = [builder.get(basicAuthenticationRealm), builder.get(basicAuthenticationCommand)];
  return fromComment(builder, first, { user, hash, realm, command });
}

export const basicAuthentication: MemberAnnotation<'basicAuthentication', User> = memberAnnotation({
  key: 'basicAuthentication',
  // The value contains the hash.
  effect: () => 'requires HTTP Basic authentication',
  names: ['basic_authentication', 'basic_auth'],
  syntax: ['basic_authentication', 'basic_authentication <user> <password hash>'],
  documentation:
    'Requires HTTP Basic authentication for this endpoint. Accepts the user with this password hash, or the users that `challenge_command` accepts; without either, all requests are rejected. The caller is signed in for this request only.',
  isGuard: true,
  parse,
  member: 'basicAuthentication',
  resolve,
});

export const basicAuthenticationRealm: ValueAnnotation<string> = valueAnnotation({
  key: 'basicAuthenticationRealm',
  names: ['basic_authentication_realm', 'basic_auth_realm', 'realm'],
  syntax: ['realm <text>', 'realm = <text>'],
  documentation: 'The realm of the HTTP Basic challenge.',
  isGuard: true,
  parse: someText('a value'),
});

export const basicAuthenticationCommand: ValueAnnotation<string> = valueAnnotation({
  key: 'basicAuthenticationCommand',
  names: ['basic_authentication_command', 'basic_auth_command', 'challenge_command'],
  syntax: ['challenge_command = <SQL>'],
  documentation:
    'The SQL statement that verifies HTTP Basic credentials: `$1` is the user, `$2` the password, `$3` the realm, `$4` the path. Its row is read like the row of a `login` routine.',
  isGuard: true,
  parse: someText('a value'),
});
