import { editDistance } from '../edit-distance.ts';
import type { Complaint, Word, WordUse } from '../word.ts';

/** What happens to an endpoint whose comment uses a word that this version does not do yet. */
type Consequence =
  /** It guards access, identity or data: without it the endpoint would be open, so the endpoint stops. */
  | 'guards'
  /** The endpoint is right without it, only slower or less convenient. */
  | 'harmless';

function refusal(consequence: Consequence): Word['apply'] {
  return (use: WordUse): Complaint => ({
    code: 'unsupported-word',
    severity: consequence === 'harmless' ? 'warning' : 'error',
    message: `${use.name} is not supported by this version yet${
      consequence === 'harmless' ? ' and has no effect' : '; the endpoint is not published without it'
    }; if the line is prose, begin it with another word`,
  });
}

function reserve(consequence: Consequence, names: string, syntax: string, documentation: string): Word {
  return {
    names: names.split(' '),
    syntax: [syntax],
    documentation,
    guards: consequence === 'guards',
    supported: false,
    apply: refusal(consequence),
  };
}

const identities = ['user_id', 'user_name', 'user_roles', 'user_claims', 'ip_address'];

/**
 * `param a is …` is an annotation only with one of the things that a parameter can be: "Parameter a is the key" is prose.
 * What is nearly one of them is taken for it: read as prose, it would leave an identity to be sent by the client.
 */
function bindsParameter(words: readonly string[]): boolean {
  const [, is, what = '', next = ''] = words.map((word) => word.toLowerCase().replaceAll('-', '_'));
  if (is !== 'is') return false;
  if (what === 'hash' || (what === 'user' && next === '')) return true;
  if (next === 'of' && editDistance(what, 'hash') <= 1) return true;
  if (next.startsWith('meta') && editDistance(what, 'upload') <= 1) return true;
  return identities.some((name) => what.startsWith(name) || editDistance(what, name) <= 2);
}

/** Words of the language that later versions do. Knowing them now is what keeps a comment from being half obeyed. */
export const reserved: readonly Word[] = [
  reserve('guards', 'login signin', 'login', 'The routine signs its caller in.'),
  reserve('guards', 'logout signout', 'logout', 'The routine signs its caller out.'),
  reserve(
    'guards',
    'basic_authentication basic_auth',
    'basic_authentication [<user>] [<password hash>]',
    'HTTP Basic authentication for this endpoint.',
  ),
  reserve('guards', 'basic_authentication_realm basic_auth_realm realm', 'realm <text>', 'The realm of HTTP Basic.'),
  reserve(
    'guards',
    'basic_authentication_command basic_auth_command challenge_command',
    'challenge_command = <SQL>',
    'The command that checks HTTP Basic credentials: `$1` user, `$2` password, `$3` realm, `$4` path.',
  ),
  reserve('guards', 'user_context', 'user_context', "The caller's identity as session settings."),
  reserve('guards', 'user_parameters user_params', 'user_parameters', "The caller's identity as parameters."),
  reserve('guards', 'upload', 'upload [for <handler> …] [<param> as metadata]', 'The endpoint takes file uploads.'),
  {
    ...reserve(
      'guards',
      'param parameter',
      'param <a> is hash of <b> | upload metadata | user_id | …',
      'What fills a parameter.',
    ),
    fits: bindsParameter,
  },
  reserve('harmless', 'cached', 'cached [<param> …]', 'Answers are kept and given again.'),
  reserve('harmless', 'cache_expires_in cache_expires', 'cache_expires_in <interval>', 'How long answers are kept.'),
  reserve(
    'harmless',
    'info_path info_events_path info_streaming_path',
    'info_path [<path>]',
    'Streams notices on this path.',
  ),
  reserve(
    'harmless',
    'info_scope info_events_scope info_streaming_scope',
    'info_scope self | matching | authorize [<role> …] | all',
    'Who gets the notices.',
  ),
];
