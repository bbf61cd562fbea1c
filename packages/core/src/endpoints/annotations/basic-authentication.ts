import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** `basic_auth`, `basic_auth user`, `basic_auth user hash`. */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const [user, hash, ...leftover] = use.words;
  if (user !== undefined && hash === undefined) {
    return { code: 'bad-argument', message: `${use.name} needs the hash of the password behind the user` };
  }
  // What is set must not be told: it holds a hash.
  draft.basic = { user: user ?? null, hash: hash ?? null };
  draft.note(use, 'asks for HTTP Basic');
  if (leftover.length === 0) return null;
  return { code: 'extra-arguments', message: `${use.name} takes a user and a hash, and nothing more`, leftover };
}

export const basicAuthentication: Annotation = {
  names: ['basic_authentication', 'basic_auth'],
  syntax: ['basic_authentication', 'basic_authentication <user> <password hash>'],
  documentation:
    'HTTP Basic for this endpoint: the one user whose password has this hash, or whoever `challenge_command` knows. Without either, nobody. The caller is signed in for this request alone.',
  guards: true,
  supported: true,
  apply,
};

function setText(key: 'basicRealm' | 'basicCommand'): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs a text` };
    draft.set(use, key, use.text);
    return null;
  };
}

export const basicAuthenticationRealm: Annotation = {
  names: ['basic_authentication_realm', 'basic_auth_realm', 'realm'],
  syntax: ['realm <text>', 'realm = <text>'],
  documentation: 'What HTTP Basic tells the caller that the password is for.',
  guards: true,
  supported: true,
  apply: setText('basicRealm'),
};

export const basicAuthenticationCommand: Annotation = {
  names: ['basic_authentication_command', 'basic_auth_command', 'challenge_command'],
  syntax: ['challenge_command = <SQL>'],
  documentation:
    'The SQL that knows who HTTP Basic credentials stand for: `$1` user, `$2` password, `$3` realm, `$4` path. Its row is read like that of a `login` routine.',
  guards: true,
  supported: true,
  apply: setText('basicCommand'),
};
