import { loginOrLogout, loginUser } from './annotations/login.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter } from './endpoint.ts';
import { findParameter } from './parameters.ts';

/** Parts of parameter names that may identify the user. */
const identifying = /user|name|email|login/i;
/** Words of a parameter name that identifies the user and nothing else. */
const plainWord = /^(?:user|name|username|e|mail|email|login|loginname|address|account|id)$/;
/** Words of names that a client may vary for the same user, such as a device or a first name. */
const incidentalWord =
  /^(?:agent|app|application|browser|client|code|company|device|display|domain|file|first|full|given|host|hostname|ip|key|lang|language|last|locale|machine|middle|nick|nickname|org|organisation|organization|os|platform|remember|role|roles|schema|scheme|secret|session|surname|tenant|token|type|version)$/;
const integers = new Set(['int2', 'int4', 'int8']);

/**
 * Returns the position of the parameter that identifies the user for the login rate limit: from `login user`, or the only one
 * with a suitable name. Returns null and warns when there is none; only the limit per address applies then.
 */
export function resolveLoginUser(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  password: EndpointParameter | null,
): number | null {
  const candidates = parameters.filter(
    (parameter) => parameter !== password && parameter.injectedValue === undefined && parameter.hashOf === undefined,
  );
  const written = builder.get(loginUser);
  if (written !== null) return resolveAnnotatedUser(builder, candidates, written);
  const secret = builder.options.authentication.passwordParameterNameContains.toLowerCase();
  const named = candidates.filter(
    (parameter) =>
      isCountable(parameter) && mayIdentify(parameter.name) && !parameter.name.toLowerCase().includes(secret),
  );
  const plain = named.filter(({ name }) => splitName(name).every((word) => plainWord.test(word)));
  const [user, ...others] = plain.length > 0 ? plain : named;
  if (user !== undefined && others.length === 0) return user.position;
  if (candidates.length > 0) warnOfAddressOnly(builder, plain.length > 0 ? plain : named);
  return null;
}

function resolveAnnotatedUser(
  builder: EndpointBuilder,
  candidates: readonly EndpointParameter[],
  name: string,
): number | null {
  const line = builder.annotationFor(loginUser)?.line ?? null;
  const parameter = findParameter(candidates, name);
  if (parameter === null) {
    const message = `login user: the routine has no parameter ${display(name)} that clients send and that is not the password; name such a parameter`;
    builder.report('error', 'unknown-parameter', message, line);
    return null;
  }
  if (isCountable(parameter)) return parameter.position;
  const message = `login user: the parameter ${display(name)} must be text, an integer or a uuid, not ${parameter.type.display}`;
  builder.report('error', 'login-user', message, line);
  return null;
}

/** Returns whether equal users have equal texts after normalization. */
function isCountable({ type }: EndpointParameter): boolean {
  return type.textual || type.builtin === 'uuid' || integers.has(type.builtin ?? '');
}

function mayIdentify(name: string): boolean {
  return identifying.test(name) && !splitName(name).some((word) => incidentalWord.test(word));
}

/** Splits a name into lower-case words without a prefix: `_userName`, `p_user_name` and `in_user_name` are user, name. */
function splitName(name: string): readonly string[] {
  const words = name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');
  return words.length > 1 && /^(?:a|i|p|v|in|par|arg)$/.test(words[0]!) ? words.slice(1) : words;
}

function warnOfAddressOnly(builder: EndpointBuilder, ambiguous: readonly EndpointParameter[]): void {
  const which =
    ambiguous.length === 0
      ? 'no parameter identifies the user of the login'
      : `${ambiguous.map(({ name }) => display(name)).join(' and ')} may each identify the user of the login`;
  builder.report(
    'warning',
    'login-user',
    `${which}: failed logins are limited by client address only; write "login user <parameter>" to select the parameter`,
    builder.annotationFor(loginOrLogout)?.line ?? null,
  );
}
