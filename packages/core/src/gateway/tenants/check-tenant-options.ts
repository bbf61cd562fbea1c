import type { ResolvedOptions } from '../options/options.ts';
import type { TenantOptions } from '../options/tenant-options.ts';
import { OptionsError } from '../start-error.ts';
import { compileHostPattern, isTenantName, placeholder, tenantNameRule } from './tenant-name.ts';

/**
 * Checks the option `tenant` against the other options.
 * @throws OptionsError with one line for each fault
 */
export function checkTenantOptions(tenant: TenantOptions, options: ResolvedOptions): void {
  const faults = [
    ...(tenant.by === 'host' ? hostFaults(tenant, options) : claimFaults(tenant, options)),
    ...databaseFaults(tenant, options),
  ];
  if (faults.length > 0) throw new OptionsError(faults.join('\n'));
}

function hostFaults({ host, claim }: TenantOptions, { authentication }: ResolvedOptions): readonly string[] {
  const { jwt, schemes, basic, externalSignIn } = authentication;
  const foreign = [
    ...([jwt ?? []].flat().length === 0 ? [] : ['authentication.jwt']),
    ...(schemes.length === 0 ? [] : ['authentication.schemes']),
  ];
  return [
    ...hostPatternFaults(host),
    ...(externalSignIn === null || externalSignIn.publicOrigin?.includes(placeholder) === true
      ? []
      : [
          `authentication.externalSignIn.publicOrigin: must have ${placeholder}, or providers would send the users of all tenants to one host; set it to an origin such as https://${placeholder}.example.com`,
        ]),
    ...(claim === null && foreign.length > 0
      ? [
          `tenant.claim: is missing; with ${foreign.join(' and ')}, name the claim of their tokens that has the name of the tenant, or a token would be valid for every tenant`,
        ]
      : []),
    ...((basic?.user ?? null) === null
      ? []
      : [
          'authentication.basic.user: its password would be valid for every tenant; use authentication.basic.command, which runs in the database of the tenant',
        ]),
  ];
}

function hostPatternFaults(host: string | null): readonly string[] {
  if (host === null) return ["tenant.host: is missing; with by: 'host', give a pattern such as {tenant}.example.com"];
  try {
    compileHostPattern(host);
    return [];
  } catch (error) {
    return [`tenant.host: ${JSON.stringify(host)} ${(error as Error).message}`];
  }
}

function claimFaults({ host, claim }: TenantOptions, { authentication }: ResolvedOptions): readonly string[] {
  const { cookie, bearer, jwt, basic, schemes } = authentication;
  const hasScheme = cookie !== false || bearer !== false || basic !== null || [jwt ?? [], schemes].flat().length > 0;
  return [
    ...(claim === null ? ["tenant.claim: is missing; with by: 'claim', name the claim that has the tenant"] : []),
    ...(host === null ? [] : ["tenant.host: is not used with by: 'claim'; remove it, or set by: 'host'"]),
    ...(hasScheme ? [] : ['tenant.by: claim needs an authentication scheme, such as authentication.jwt or cookie']),
  ];
}

/** Returns the names of options with a database that all tenants would share. */
function ownDatabases(options: ResolvedOptions): readonly string[] {
  const given: Readonly<Record<string, boolean>> = {
    connectionStrings: Object.keys(options.connectionStrings).length > 0,
    dataSource: options.dataSource !== null,
    connectionProvider: options.connectionProvider !== null,
    listenConnectionString: options.listenConnectionString !== null,
    readReplicas: options.readReplicas.connectionStrings.length > 0,
    'changes.connectionString': options.changes.connectionString !== null,
  };
  return Object.keys(given).filter((name) => given[name]);
}

function databaseFaults(tenant: TenantOptions, options: ResolvedOptions): readonly string[] {
  const { connectionString, connectionStrings, query } = tenant;
  const others = ownDatabases(options);
  return [
    ...others.map((name) => `${name}: not with tenant, as all tenants would share its database; remove one of the two`),
    ...(query === null && Object.keys(connectionStrings).length === 0
      ? ['tenant: lists no tenants; set tenant.query, or tenant.connectionStrings']
      : []),
    ...(connectionString !== null && query === null
      ? ['tenant.connectionString: is the template for the tenants that tenant.query lists; set tenant.query']
      : []),
    ...(tenant.default === null || isTenantName(tenant.default)
      ? []
      : [`tenant.default: ${JSON.stringify(tenant.default)} ${tenantNameRule}`]),
  ];
}
