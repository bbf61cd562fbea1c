import { option, optionGroup, type OptionGroup } from '../validation/option.ts';
import { boolean, nonEmptyString } from '../validation/validators.ts';
import type { EndpointAuthenticationOptions } from './options.generated.ts';

export type { EndpointAuthenticationOptions } from './options.generated.ts';

export const endpointAuthenticationOptions: OptionGroup<EndpointAuthenticationOptions> =
  optionGroup<EndpointAuthenticationOptions>(
    'EndpointAuthenticationOptions',
    'What routines receive about the caller, and the columns of logins.',
    {
      useUserContext: option(boolean, false, 'Passes the caller to every call in settings of its transaction.'),
      useUserParameters: option(
        boolean,
        false,
        'Passes the caller to every call in those of the parameters below that it has.',
      ),
      userIdParameterName: option(nonEmptyString, '_user_id', 'The parameter that receives the id.'),
      userNameParameterName: option(nonEmptyString, '_user_name', 'The parameter that receives the name.'),
      userRolesParameterName: option(nonEmptyString, '_user_roles', 'The parameter that receives the roles.'),
      userClaimsParameterName: option(
        nonEmptyString,
        '_user_claims',
        'The parameter that receives all claims as JSON.',
      ),
      ipAddressParameterName: option(
        nonEmptyString,
        '_ip_address',
        'The parameter that receives the address of the client.',
      ),
      statusColumnName: option(
        nonEmptyString,
        'status',
        'The column of a login row with a success flag or the HTTP status.',
      ),
      messageColumnName: option(nonEmptyString, 'message', 'The column of a login row with the response body.'),
      schemeColumnName: option(nonEmptyString, 'scheme', 'The column of a login row that selects the scheme.'),
      hashColumnName: option(nonEmptyString, 'hash', 'The column of a login row with the password hash.'),
      passwordParameterNameContains: option(
        nonEmptyString,
        'pass',
        'The password is the first parameter of a login whose name contains this text.',
      ),
      obfuscateAuthParameterLogValues: option(
        boolean,
        true,
        'Masks in the log the parameter values of login and logout, and of routines with a hashed parameter.',
      ),
    },
  );
