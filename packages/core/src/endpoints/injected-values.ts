import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, InjectedValue } from './endpoint.ts';
import { findParameter } from './parameters.ts';

/**
 * The parameters with what fills them in place of the client: the caller's identity, by the words of the comment or by their
 * names; a hash of another parameter.
 */
export function resolveInjectedValues(
  draft: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly EndpointParameter[] {
  const fillings = new Map<EndpointParameter, Partial<EndpointParameter>>();
  for (const [parameter, filling] of identities(draft, parameters)) {
    if (refuseType(draft, parameter, filling)) fillings.set(parameter, { injectedValue: filling });
  }
  for (const { name, of, line } of draft.hashes) {
    const hashed = named(draft, parameters, name, line);
    const from = named(draft, parameters, of, line);
    if (hashed === null || from === null || refuseHash(draft, hashed, fillings.get(hashed), line)) continue;
    fillings.set(hashed, { hashOf: from.position });
  }
  return fillings.size === 0 ? parameters : parameters.map((one) => ({ ...one, ...fillings.get(one) }));
}

function identities(
  draft: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, filling: InjectedValue])[] {
  const said = new Map<EndpointParameter, InjectedValue>();
  for (const { name, filling, line } of draft.fillings) {
    const parameter = named(draft, parameters, name, line);
    if (parameter === null) continue;
    const other = said.get(parameter) ?? filling;
    if (other !== filling) contradict(draft, parameter, [other, filling], line);
    said.set(parameter, filling);
  }
  return [...byName(draft, parameters), ...said];
}

function contradict(
  draft: EndpointBuilder,
  { name }: EndpointParameter,
  both: readonly [string, string],
  line: number,
): void {
  draft.report('error', 'contradiction', `${display(name)} is both ${both.join(' and ')}; keep one of the lines`, line);
}

/** Whether there is a reason against it: a hash is text, and nothing else fills its parameter. */
function refuseHash(
  draft: EndpointBuilder,
  parameter: EndpointParameter,
  filled: Partial<EndpointParameter> | undefined,
  line: number,
): boolean {
  const { name, type } = parameter;
  if (filled !== undefined) {
    contradict(
      draft,
      parameter,
      [filled.injectedValue ?? 'a hash', filled.injectedValue === undefined ? 'another' : 'a hash'],
      line,
    );
    return true;
  }
  if (type.textual) return false;
  draft.report('error', 'hash-parameter', `${display(name)} takes a hash, which is text and not ${type.display}`, line);
  return true;
}

function byName(
  draft: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, filling: InjectedValue])[] {
  const { settings, options, routine } = draft;
  const { authentication: names } = options;
  if (routine.table !== undefined || !(settings.userParameters ?? names.useUserParameters)) return [];
  const wanted: readonly (readonly [string, InjectedValue])[] = [
    [names.userIdParameterName, 'userId'],
    [names.userNameParameterName, 'userName'],
    [names.userRolesParameterName, 'userRoles'],
    [names.userClaimsParameterName, 'userClaims'],
    [names.ipAddressParameterName, 'ipAddress'],
  ];
  return wanted.flatMap(([name, filling]) => {
    const parameter = findParameter(parameters, name) ?? findParameter(parameters, options.nameConverter(name));
    if (parameter === null) return [];
    if (settings.signIn === 'login' && filling !== 'ipAddress') warnOfLogin(draft, parameter);
    return [[parameter, filling] as const];
  });
}

/** A name that every other routine is told of its caller by is a likely one for what is typed into a form of sign-in. */
function warnOfLogin(draft: EndpointBuilder, { name }: EndpointParameter): void {
  draft.report(
    'warning',
    'login-identity',
    `the parameter ${display(name)} is filled with what is known of the caller, which is nothing before the sign-in, and cannot be sent; if it is what the caller types, write user_parameters = off, or give it another name`,
    null,
  );
}

function named(
  draft: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  name: string,
  line: number,
): EndpointParameter | null {
  const parameter = findParameter(parameters, name);
  if (parameter === null) {
    draft.report('error', 'unknown-parameter', `the routine has no parameter ${display(name)}`, line);
  }
  return parameter;
}

/** An identity in the path would come from the client, and roles have to be a list that nothing is lost of. */
function refuseType(
  draft: EndpointBuilder,
  { name, type, inPath }: EndpointParameter,
  filling: InjectedValue,
): boolean {
  const refuse = (why: string): false => {
    draft.report(
      'error',
      'identity-parameter',
      `the parameter ${display(name)} is the caller's ${filling}, ${why}`,
      null,
    );
    return false;
  };
  if (inPath) return refuse('and may not stand in the path, where a client could choose it');
  const list = type.element !== undefined;
  if (filling === 'userRoles' && !list && type.json !== 'json')
    return refuse(`which is a list: make it text[], not ${type.display}`);
  if (filling !== 'userRoles' && list) return refuse(`which is one value, not ${type.display}`);
  return true;
}
