import {
  integer,
  nonEmptyString,
  nullable,
  oneOf,
  optionGroup,
  recordOf,
  secret,
  seconds,
  type Validator,
} from '../../validation/validators.ts';
import { isTenantName, tenantNameRule } from '../tenants/tenant-name.ts';
import type { TenantOptions } from './tenant-options.ts';

/** The validator of the option `tenant`. */
export const tenantOptions: Validator<TenantOptions> = optionGroup<TenantOptions>(
  {
    by: oneOf('host', 'claim'),
    host: nullable(nonEmptyString),
    claim: nullable(nonEmptyString),
    default: nullable(nonEmptyString),
    connectionString: nullable(secret),
    connectionStrings: recordOf(secret, (name) => (isTenantName(name) ? null : tenantNameRule)),
    query: nullable(nonEmptyString),
    queryInterval: seconds,
    versionQuery: nullable(nonEmptyString),
    maxConnections: integer({ min: 1, max: 100_000 }),
    maxOpen: integer({ min: 1, max: 100_000 }),
    idleTimeout: seconds,
  },
  ['by'],
);
