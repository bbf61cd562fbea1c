import { display } from './display.ts';
import type { Draft } from './draft.ts';
import type { EndpointParameter, Filling } from './endpoint.ts';
import { parameterNamed } from './parameters.ts';

/**
 * The parameters with what fills them in place of the client: the caller's identity, by the words of the comment or by their
 * names; a hash of another parameter.
 */
export function planFillings(draft: Draft, parameters: readonly EndpointParameter[]): readonly EndpointParameter[] {
  const fillings = new Map<EndpointParameter, Partial<EndpointParameter>>();
  for (const [parameter, filling] of identities(draft, parameters)) {
    if (refuseType(draft, parameter, filling)) fillings.set(parameter, { filling });
  }
  for (const { name, of, line } of draft.hashes) {
    const hashed = named(draft, parameters, name, line);
    const from = named(draft, parameters, of, line);
    if (hashed !== null && from !== null) fillings.set(hashed, { ...fillings.get(hashed), hashOf: from.position });
  }
  return fillings.size === 0 ? parameters : parameters.map((one) => ({ ...one, ...fillings.get(one) }));
}

function identities(
  draft: Draft,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, filling: Filling])[] {
  const said = draft.fillings.flatMap(({ name, filling, line }) => {
    const parameter = named(draft, parameters, name, line);
    return parameter === null ? [] : [[parameter, filling] as const];
  });
  return [...byName(draft, parameters), ...said];
}

function byName(
  { settings, options, routine }: Draft,
  parameters: readonly EndpointParameter[],
): readonly (readonly [parameter: EndpointParameter, filling: Filling])[] {
  const { authentication: names } = options;
  if (routine.table !== undefined || !(settings.userParameters ?? names.useUserParameters)) return [];
  const wanted: readonly (readonly [string, Filling])[] = [
    [names.userIdParameterName, 'userId'],
    [names.userNameParameterName, 'userName'],
    [names.userRolesParameterName, 'userRoles'],
    [names.userClaimsParameterName, 'userClaims'],
    [names.ipAddressParameterName, 'ipAddress'],
  ];
  return wanted.flatMap(([name, filling]) => {
    const parameter = parameterNamed(parameters, name) ?? parameterNamed(parameters, options.nameConverter(name));
    return parameter === null ? [] : [[parameter, filling] as const];
  });
}

function named(
  draft: Draft,
  parameters: readonly EndpointParameter[],
  name: string,
  line: number,
): EndpointParameter | null {
  const parameter = parameterNamed(parameters, name);
  if (parameter === null) {
    draft.report('error', 'unknown-parameter', `the routine has no parameter ${display(name)}`, line);
  }
  return parameter;
}

/** An identity in the path would come from the client, and roles have to be a list that nothing is lost of. */
function refuseType(draft: Draft, { name, type, inPath }: EndpointParameter, filling: Filling): boolean {
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
