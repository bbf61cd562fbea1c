import type { Observer, SchemeRoute } from '../ports/ports.ts';
import { loginStatuses, sqlstateStatuses } from '../request/sqlstate.ts';
import { toProblem } from '../request/to-problem.ts';
import type { Authentication } from './open-authentication.ts';
import type { ExternalSignInServices } from './external-sign-in.ts';
import type { Events } from './open-events.ts';
import type { RateLimits } from './open-rate-limits.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';
import { withTenantOrigin } from './tenants/tenant-name.ts';

interface SignInDependencies {
  readonly authentication: Authentication;
  readonly events: Events;
  readonly rateLimits: RateLimits;
}

/**
 * Returns the routes of sign-in through external providers, none unless it is configured.
 * @throws StartError for options that are incomplete or contradict each other
 */
export function openExternalSignIn(
  { authentication, events, rateLimits }: SignInDependencies,
  options: ResolvedOptions,
  observe: Observer,
): readonly SchemeRoute[] {
  // The gateway's own database answers no sign-in of tenants with hosts: any name shows whether the options are valid.
  const hasTenantHosts = options.tenant?.by === 'host';
  const { externalSignIn: configured } = options.authentication;
  const externalSignIn = hasTenantHosts ? withTenantOrigin(configured, 'tenant') : configured;
  if (externalSignIn === null) return [];
  const { access, login, services } = authentication;
  if (!login.schemes.some(({ signIn }) => signIn !== null)) {
    throw new OptionsError(
      'authentication.externalSignIn: no scheme supports login; enable authentication.cookie or authentication.bearer',
    );
  }
  const problemContext = {
    statuses: loginStatuses({ ...sqlstateStatuses, ...options.postgreSqlErrorCodeToHttpStatusCodeMapping }),
    invalidParameter: null,
    constraintMessages: {},
    showRowDetails: false,
    toLogicalNames: null,
  };
  try {
    const signInServices: ExternalSignInServices = {
      access,
      login,
      encryption: services.encryption!,
      sessions: services.sessions,
      query: services.query,
      names: options.authentication,
      store: rateLimits.store,
      refusesWhenStoreUnavailable: rateLimits.refusesWhenUnavailable,
      showsDatabaseMessages: options.returnGatewayExceptionMessage !== false,
      toProblem: (error) => toProblem(error, problemContext),
      endSession: (session) => events.streams.endSession(session),
      observe,
    };
    return externalSignIn.routes(signInServices, externalSignIn.publicOrigin);
  } catch (error) {
    throw new OptionsError(`authentication.externalSignIn.${(error as Error).message}`, { cause: error });
  }
}
