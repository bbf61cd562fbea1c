import { loginOrLogout } from './annotations/login.ts';
import { resolveLoginUser } from './login-user.ts';
import type { EndpointAuthenticationOptions } from './authentication-options.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, ResultColumn, ResultShape, LoginOrLogout } from './endpoint.ts';

const numbers = new Set(['int2', 'int4', 'int8', 'numeric']);

/** Returns the columns and parameters of a login, or a logout; null for other endpoints. */
export function resolveLoginOrLogout(
  builder: EndpointBuilder,
  result: ResultShape,
  parameters: readonly EndpointParameter[],
): LoginOrLogout | null {
  const kind = builder.get(loginOrLogout);
  if (kind === null) return null;
  if (kind === 'logout') return { kind };
  const { authentication: names } = builder.options;
  if ((result.kind !== 'object' && result.kind !== 'objects') || result.columns.length === 0) {
    builder.report(
      'error',
      'login-columns',
      `a login routine must return a row with named columns, which become claims, but this one returns ${builder.routine.result.display}`,
      builder.annotationFor(loginOrLogout)?.line ?? null,
    );
    return null;
  }
  checkStatus(builder, result.columns, names);
  const index = (name: string): number | null => {
    const found = result.columns.findIndex((column) => column.name === name && column.parentColumn === undefined);
    return found < 0 ? null : found;
  };
  const password = findPassword(parameters, names);
  const hash = index(names.hashColumnName);
  if (hash !== null && password === null) reportMissingPassword(builder, names);
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

function findPassword(
  parameters: readonly EndpointParameter[],
  { passwordParameterNameContains: text }: EndpointAuthenticationOptions,
): EndpointParameter | null {
  return parameters.find(({ name }) => name.toLowerCase().includes(text.toLowerCase())) ?? null;
}

/** Reports a hash column without a password parameter, which would accept every caller. */
function reportMissingPassword(builder: EndpointBuilder, names: EndpointAuthenticationOptions): void {
  const { hashColumnName: hash, passwordParameterNameContains: text } = names;
  builder.report(
    'error',
    'login-password',
    `the column ${display(hash)} is a password hash, but no parameter name contains ${display(text)}; rename the password parameter`,
    builder.annotationFor(loginOrLogout)?.line ?? null,
  );
}

/** Reports a status column that is not a boolean or number, which could pass as a success. */
function checkStatus(
  builder: EndpointBuilder,
  columns: readonly ResultColumn[],
  names: EndpointAuthenticationOptions,
): void {
  const status = columns.find(({ name }) => name === names.statusColumnName);
  if (status === undefined || status.type.builtin === 'bool' || numbers.has(status.type.builtin ?? '')) return;
  builder.report(
    'error',
    'login-status',
    `the column ${display(status.name)} of a login routine must be a boolean or a number, not ${status.type.display}`,
    builder.annotationFor(loginOrLogout)?.line ?? null,
  );
}
