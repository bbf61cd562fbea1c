import type { ResultShape } from './endpoint.ts';

/** Names by which sign-in, identity parameters and comments understand each other. */
export interface AuthenticationNames {
  /** Every endpoint is told of its caller by session settings. */
  readonly useUserContext: boolean;
  /** Every endpoint that has parameters of these names is told of its caller by them. */
  readonly useUserParameters: boolean;
  /** The parameter that takes the id. Default `_user_id`. */
  readonly userIdParameterName: string;
  /** The parameter that takes the name. Default `_user_name`. */
  readonly userNameParameterName: string;
  /** The parameter that takes the roles. Default `_user_roles`. */
  readonly userRolesParameterName: string;
  /** The parameter that takes all claims as JSON. Default `_user_claims`. */
  readonly userClaimsParameterName: string;
  /** The parameter that takes the client's address. Default `_ip_address`. */
  readonly ipAddressParameterName: string;
  /** The column of a login that tells success, or the status of the answer. Default `status`. */
  readonly statusColumnName: string;
  /** The column of a login that is the body of the answer. Default `message`. */
  readonly messageColumnName: string;
  /** The column of a login that chooses the scheme. Default `scheme`. */
  readonly schemeColumnName: string;
  /** The column of a login that holds the hash of the password. Default `hash`. */
  readonly hashColumnName: string;
  /** The first parameter whose name contains this is the password. Default `pass`. */
  readonly passwordParameterNameContains: string;
  /** The values of login and logout endpoints, and of those with a hash of a parameter, never reach a log. Default true. */
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
export function columnsOf(answer: ResultShape): readonly { readonly name: string; readonly within?: string }[] {
  return 'columns' in answer ? answer.columns : [];
}
