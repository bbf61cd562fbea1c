import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** Reads `basic_auth` or `basic_auth <user> <hash>`. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [user, hash, ...leftover] = parsed.args;
  if (user !== undefined && hash === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} needs a password hash after the user; write ${parsed.name} <user> <password hash>`,
    };
  }
  // Logs no value: it contains the hash.
  builder.basicAuthentication = { user: user ?? null, hash: hash ?? null };
  builder.logEffect(parsed, 'requires HTTP Basic authentication');
  if (leftover.length === 0) return null;
  return {
    code: 'extra-arguments',
    message: `${parsed.name} takes a user and a password hash only`,
    unusedArguments: leftover,
  };
}

export const basicAuthentication: Annotation = {
  names: ['basic_authentication', 'basic_auth'],
  syntax: ['basic_authentication', 'basic_authentication <user> <password hash>'],
  documentation:
    'Requires HTTP Basic authentication for this endpoint. Accepts the user with this password hash, or the users that `challenge_command` accepts; without either, all requests are rejected. The caller is signed in for this request only.',
  isGuard: true,
  apply,
};

function setText(key: 'basicAuthenticationRealm' | 'basicAuthenticationCommand'): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    if (parsed.text === '') return { code: 'bad-argument', message: `${parsed.name} needs a value` };
    builder.set(parsed, key, parsed.text);
    return null;
  };
}

export const basicAuthenticationRealm: Annotation = {
  names: ['basic_authentication_realm', 'basic_auth_realm', 'realm'],
  syntax: ['realm <text>', 'realm = <text>'],
  documentation: 'The realm of the HTTP Basic challenge.',
  isGuard: true,
  apply: setText('basicAuthenticationRealm'),
};

export const basicAuthenticationCommand: Annotation = {
  names: ['basic_authentication_command', 'basic_auth_command', 'challenge_command'],
  syntax: ['challenge_command = <SQL>'],
  documentation:
    'The SQL statement that verifies HTTP Basic credentials: `$1` is the user, `$2` the password, `$3` the realm, `$4` the path. Its row is read like the row of a `login` routine.',
  isGuard: true,
  apply: setText('basicAuthenticationCommand'),
};
