import type { Answer } from './endpoint.ts';

/** Names by which sign-in, identity parameters and comments understand each other. */
export interface AuthenticationNames {
  /** Every endpoint is told of its caller by session settings. */
  readonly useUserContext: boolean;
  /** Every endpoint that has parameters of these names is told of its caller by them. */
  readonly useUserParameters: boolean;
  readonly userIdParameterName: string;
  readonly userNameParameterName: string;
  readonly userRolesParameterName: string;
  readonly userClaimsParameterName: string;
  readonly ipAddressParameterName: string;
  /** Columns of the row of a login routine. */
  readonly statusColumnName: string;
  readonly messageColumnName: string;
  readonly schemeColumnName: string;
  readonly hashColumnName: string;
  /** The first parameter whose name contains this is the password. */
  readonly passwordParameterNameContains: string;
  /** The values of login and logout endpoints, and of those with a hash of a parameter, never reach a log. */
  readonly obfuscateAuthParameterLogValues: boolean;
}

export const authenticationNames: AuthenticationNames = Object.freeze({
  useUserContext: false,
  useUserParameters: false,
  userIdParameterName: '_user_id',
  userNameParameterName: '_user_name',
  userRolesParameterName: '_user_roles',
  userClaimsParameterName: '_user_claims',
  ipAddressParameterName: '_ip_address',
  statusColumnName: 'status',
  messageColumnName: 'message',
  schemeColumnName: 'scheme',
  hashColumnName: 'hash',
  passwordParameterNameContains: 'pass',
  obfuscateAuthParameterLogValues: true,
});

/** The columns of an answer of rows, none for others. */
export function columnsOf(answer: Answer): readonly { readonly name: string; readonly within?: string }[] {
  return 'columns' in answer ? answer.columns : [];
}
