import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter } from './endpoint.ts';
import { findParameter } from './parameters.ts';

/** Parts of names of parameters that say who signs in. */
const identifying = /user|name|email|login/i;
/** Words that make up the name of such a parameter and nothing else. */
const plainWord = /^(?:user|name|username|e|mail|email|login|loginname|address|account|id)$/;
/** Words of what a client may choose freely beside its user: a device, a program, a person's other names. */
const incidentalWord =
  /^(?:agent|app|application|browser|client|code|company|device|display|domain|file|first|full|given|host|hostname|ip|key|lang|language|last|locale|machine|middle|nick|nickname|org|organisation|organization|os|platform|remember|role|roles|schema|scheme|secret|session|surname|tenant|token|type|version)$/;
const integers = new Set(['int2', 'int4', 'int8']);

/**
 * The position of the parameter that names the user of a login: the one that the comment says, or else the only one whose name
 * does. Failed attempts are counted by it, so a parameter that a client may vary beside its user is none. Null: only the limit of
 * the address holds, and the author is told.
 */
export function resolveLoginUser(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  password: EndpointParameter | null,
): number | null {
  const given = parameters.filter(
    (one) => one !== password && one.injectedValue === undefined && one.hashOf === undefined,
  );
  const { loginUser } = builder.overrides;
  if (loginUser !== null) return sayUser(builder, given, loginUser);
  const secret = builder.options.authentication.passwordParameterNameContains.toLowerCase();
  const named = given.filter(
    (one) => isCountable(one) && mayIdentify(one.name) && !one.name.toLowerCase().includes(secret),
  );
  const plain = named.filter(({ name }) => wordsOf(name).every((word) => plainWord.test(word)));
  const [user, ...others] = plain.length > 0 ? plain : named;
  if (user !== undefined && others.length === 0) return user.position;
  if (given.length > 0) warnOfAddressOnly(builder, plain.length > 0 ? plain : named);
  return null;
}

function sayUser(builder: EndpointBuilder, given: readonly EndpointParameter[], name: string): number | null {
  const line = builder.annotationFor('loginUser')?.line ?? null;
  const parameter = findParameter(given, name);
  if (parameter === null) {
    const message = `login user ${display(name)}: the routine has no parameter of this name that a client gives and that is not the password`;
    builder.report('error', 'unknown-parameter', message, line);
    return null;
  }
  if (isCountable(parameter)) return parameter.position;
  const message = `login user ${display(name)}: the parameter that names the user is text, an integer or a uuid, not ${parameter.type.display}`;
  builder.report('error', 'login-user', message, line);
  return null;
}

/** One user has to have one spelling, at least after it was made uniform. */
function isCountable({ type }: EndpointParameter): boolean {
  return type.textual || type.builtin === 'uuid' || integers.has(type.builtin ?? '');
}

function mayIdentify(name: string): boolean {
  return identifying.test(name) && !wordsOf(name).some((word) => incidentalWord.test(word));
}

/** `_userName`, `p_user_name`, `in_user_name` → user, name. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');
  return words.length > 1 && /^(?:a|i|p|v|in|par|arg)$/.test(words[0]!) ? words.slice(1) : words;
}

function warnOfAddressOnly(builder: EndpointBuilder, several: readonly EndpointParameter[]): void {
  const which =
    several.length === 0
      ? 'no parameter of the login names its user'
      : `${several.map(({ name }) => display(name)).join(' and ')} may each name the user of the login`;
  builder.report(
    'warning',
    'login-user',
    `${which}: failed sign-ins are limited by the client's address alone; write "login user <parameter>" to say which parameter names the user`,
    builder.annotationFor('signIn')?.line ?? null,
  );
}
