import { resolveLoginUser } from './login-user.ts';
import type { EndpointAuthenticationOptions } from './options.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { BasicAuthentication, EndpointParameter, ResultColumn, ResultShape, SignIn } from './endpoint.ts';

const numbers = new Set(['int2', 'int4', 'int8', 'numeric']);

/** What a login or logout endpoint needs to know of its routine's row; null for every other endpoint. */
export function resolveSignIn(
  builder: EndpointBuilder,
  answer: ResultShape,
  parameters: readonly EndpointParameter[],
): SignIn | null {
  const { signIn } = builder.overrides;
  if (signIn === null) return null;
  if (signIn === 'logout') return { kind: 'logout' };
  const { authentication: names } = builder.options;
  if ((answer.kind !== 'object' && answer.kind !== 'objects') || answer.columns.length === 0) {
    builder.report(
      'error',
      'login-columns',
      `a login routine returns a row of named columns, which become what is known of its caller; this one returns ${builder.routine.result.display}`,
      builder.annotationFor('signIn')?.line ?? null,
    );
    return null;
  }
  refuseStatus(builder, answer.columns, names);
  const index = (name: string): number | null => {
    const found = answer.columns.findIndex((column) => column.name === name && column.parentColumn === undefined);
    return found < 0 ? null : found;
  };
  const password = passwordAmong(parameters, names);
  const hash = index(names.hashColumnName);
  if (hash !== null && password === null) refuseUnverified(builder, names);
  return {
    kind: 'login',
    statusColumn: index(names.statusColumnName),
    messageColumn: index(names.messageColumnName),
    schemeColumn: index(names.schemeColumnName),
    hashColumn: hash,
    passwordParameter: password?.position ?? null,
    userParameter: resolveLoginUser(builder, parameters, password),
  };
}

function passwordAmong(
  parameters: readonly EndpointParameter[],
  { passwordParameterNameContains: part }: EndpointAuthenticationOptions,
): EndpointParameter | null {
  return parameters.find(({ name }) => name.toLowerCase().includes(part.toLowerCase())) ?? null;
}

/** A hash that nothing is held against would let everybody in. */
function refuseUnverified(builder: EndpointBuilder, names: EndpointAuthenticationOptions): void {
  const { hashColumnName: hash, passwordParameterNameContains: part } = names;
  builder.report(
    'error',
    'login-password',
    `the column ${display(hash)} is the hash of a password, but no parameter has a name with ${display(part)} in it: rename the parameter that is the password`,
    builder.annotationFor('signIn')?.line ?? null,
  );
}

/** Anything but true, false or a status could be read as a success that nobody meant. */
function refuseStatus(
  builder: EndpointBuilder,
  columns: readonly ResultColumn[],
  names: EndpointAuthenticationOptions,
): void {
  const status = columns.find(({ name }) => name === names.statusColumnName);
  if (status === undefined || status.type.builtin === 'bool' || numbers.has(status.type.builtin ?? '')) return;
  builder.report(
    'error',
    'login-status',
    `the column ${display(status.name)} of a login routine is boolean or a number, not ${status.type.display}`,
    builder.annotationFor('signIn')?.line ?? null,
  );
}

/** HTTP Basic for one endpoint; null where its comment says nothing of it. */
export function resolveBasicAuthentication({
  basicAuthentication: basic,
  overrides,
}: EndpointBuilder): BasicAuthentication | null {
  const { basicAuthenticationRealm: basicRealm, basicAuthenticationCommand: basicCommand } = overrides;
  if (basic === null && basicRealm === null && basicCommand === null) return null;
  return {
    user: basic?.user ?? null,
    hash: basic?.hash ?? null,
    realm: basicRealm,
    command: basicCommand,
  };
}
