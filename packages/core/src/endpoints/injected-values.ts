import { loginOrLogout } from './annotations/login.ts';
import { userParameters } from './annotations/user-context.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, InjectedValue } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import { unknownParameter } from './unknown-parameter.ts';

/** Marks the parameters that receive the identity of the caller, by annotation or by name, or the hash of a parameter. */
export function resolveInjectedValues(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly EndpointParameter[] {
  const injections = new Map<EndpointParameter, Partial<EndpointParameter>>();
  for (const [parameter, value] of resolveIdentities(builder, parameters)) {
    if (checkType(builder, parameter, value)) injections.set(parameter, { injectedValue: value });
  }
  for (const { name, source, line } of builder.hashes) {
    const target = findNamed(builder, parameters, name, line);
    const hashed = findNamed(builder, parameters, source, line);
    if (target === null || hashed === null || !checkHash(builder, target, injections.get(target), line)) continue;
    injections.set(target, { hashOf: hashed.position });
  }
  return injections.size === 0
    ? parameters
    : parameters.map((parameter) =>
        injections.has(parameter) ? { ...parameter, ...injections.get(parameter) } : parameter,
      );
}

function resolveIdentities(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, value: InjectedValue])[] {
  const annotated = new Map<EndpointParameter, InjectedValue>();
  const annotate = (parameter: EndpointParameter, value: InjectedValue, line: number): void => {
    const other = annotated.get(parameter) ?? value;
    if (other !== value) reportContradiction(builder, parameter, [other, value], line);
    annotated.set(parameter, value);
  };
  for (const { position, claimsLine } of builder.routine.parameters) {
    if (claimsLine === undefined) continue;
    annotate(
      parameters.find((candidate) => candidate.position === position)!,
      'userClaims',
      claimsLine,
    );
  }
  for (const { name, value, line } of builder.injections) {
    const parameter = findNamed(builder, parameters, name, line);
    if (parameter !== null) annotate(parameter, value, line);
  }
  return [...resolveByName(builder, parameters), ...annotated];
}

function reportContradiction(
  builder: EndpointBuilder,
  { name }: EndpointParameter,
  both: readonly [string, string],
  line: number,
): void {
  builder.report(
    'error',
    'contradiction',
    `${display(name)} is set to both ${both.join(' and ')}; keep one of the lines`,
    line,
  );
}

/** Reports a hash for a parameter that is not text or has another injected value. Returns whether it is valid. */
function checkHash(
  builder: EndpointBuilder,
  parameter: EndpointParameter,
  other: Partial<EndpointParameter> | undefined,
  line: number,
): boolean {
  const { name, type } = parameter;
  if (other !== undefined) {
    reportContradiction(
      builder,
      parameter,
      [other.injectedValue ?? 'a hash', other.injectedValue === undefined ? 'another' : 'a hash'],
      line,
    );
    return false;
  }
  if (type.textual) return true;
  builder.report(
    'error',
    'hash-parameter',
    `${display(name)} receives a hash, which is text, but is of type ${type.display}; change it to text`,
    line,
  );
  return false;
}

function resolveByName(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, value: InjectedValue])[] {
  const { options, routine } = builder;
  const { authentication } = options;
  if (routine.table !== undefined || !(builder.get(userParameters) ?? authentication.useUserParameters)) return [];
  const names: readonly (readonly [string, InjectedValue])[] = [
    [authentication.userIdParameterName, 'userId'],
    [authentication.userNameParameterName, 'userName'],
    [authentication.userRolesParameterName, 'userRoles'],
    [authentication.userClaimsParameterName, 'userClaims'],
    [authentication.ipAddressParameterName, 'ipAddress'],
  ];
  return names.flatMap(([name, value]) => {
    const parameter = findParameter(parameters, name) ?? findParameter(parameters, options.nameConverter(name));
    if (parameter === null) return [];
    if (builder.get(loginOrLogout) === 'login' && value !== 'ipAddress') warnOfLogin(builder, parameter);
    return [[parameter, value] as const];
  });
}

/** Warns of a login parameter that a user would normally fill in but that the gateway sets. */
function warnOfLogin(builder: EndpointBuilder, { name }: EndpointParameter): void {
  builder.report(
    'warning',
    'login-identity',
    `the parameter ${display(name)} receives the identity of the caller, which is NULL before the login, and cannot be sent; if the client sends it, write user_parameters = off or rename it`,
    null,
  );
}

function findNamed(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  name: string,
  line: number,
): EndpointParameter | null {
  const parameter = findParameter(parameters, name);
  if (parameter === null) {
    builder.report('error', 'unknown-parameter', unknownParameter(name, parameters), line);
  }
  return parameter;
}

/** Reports an injected value for a path parameter or an unsuitable type. Returns whether it is valid. */
function checkType(builder: EndpointBuilder, { name, type, inPath }: EndpointParameter, value: InjectedValue): boolean {
  const reject = (reason: string): false => {
    builder.report(
      'error',
      'identity-parameter',
      `the parameter ${display(name)} receives the caller's ${value}, ${reason}`,
      null,
    );
    return false;
  };
  if (inPath) return reject('so it cannot be a path parameter, which the client sets');
  const isList = type.element !== undefined;
  if (value === 'userRoles' && !isList && type.json !== 'json')
    return reject(`which is a list, but is of type ${type.display}; change it to text[]`);
  if (value !== 'userRoles' && isList) return reject(`which is a single value, but is of type ${type.display}`);
  return true;
}
