import type { AuthenticationOptions, SessionOptions } from './options/authentication-options.ts';
import type { Connections } from './connections.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { AccessControl } from '../auth/authorize.ts';
import type { ContextKeys, DatabaseRole } from '../auth/context.ts';
import type {
  LoginRateLimiter,
  AuthScheme,
  Observer,
  PasswordHasher,
  RateLimiter,
  SchemeRoute,
} from '../ports/ports.ts';
import type { LoginOptions } from '../auth/login-options.ts';
import { loginRateLimiter } from '../auth-schemes/login-rate-limiter.ts';
import { type CsrfTokenGuard, csrfGuard } from '../auth-schemes/csrf-guard.ts';
import {
  databaseKeyStorage,
  folderKeyStorage,
  memoryKeyStorage,
  type KeyStorage,
} from '../auth-schemes/keys/key-storage.ts';
import type { KeyRing, TokenEncryption } from '../auth-schemes/keys/key-ring.ts';
import { createPasswordHasher } from '../auth-schemes/password.ts';
import { rateLimiter } from '../auth-schemes/rate-limiter.ts';
import type { CommandRunner } from '../auth-schemes/command-runner.ts';
import { memorySessions, type SessionStore, sqlSessions } from '../auth-schemes/sessions.ts';
import {
  type AuthenticationParts,
  credentialsTest,
  defaultIssuerTest,
  endpointSchemes,
  openSchemes,
} from './open-schemes.ts';
import { SessionEnds } from './session-ends.ts';
import { OptionsError } from './start-error.ts';
import { validateAuthentication } from './validate-authentication.ts';

/** The authentication of a gateway. Refreshes of the catalog do not change it. */
export interface Authentication {
  readonly access: AccessControl;
  readonly login: LoginOptions;
  readonly contextKeys: ContextKeys;
  readonly databaseRole: DatabaseRole | null;
  /** Encryption with keys that all instances share; null without such keys. */
  readonly sharedEncryption: TokenEncryption | null;
  /** The routes of the schemes. */
  readonly routes: readonly SchemeRoute[];
  readonly csrfGuard: CsrfTokenGuard;
  /** For sign-in through external providers, and for the authentication of tenants. */
  readonly services: AuthenticationServices;
  /** Notifications of sessions that have ended. */
  readonly sessionEnds: SessionEnds;
  close(): void;
}

export interface AuthenticationServices {
  /** Null without a scheme that needs keys. */
  readonly encryption: TokenEncryption | null;
  readonly hasher: PasswordHasher;
  readonly sessions: SessionStore;
  /** Runs a command of the host on the main database. */
  readonly query: CommandRunner;
}

/** The parts of a tenant's authentication that are made before its database is connected, and outlive the connection. */
export interface TenantAuthentication {
  /** Of the tenant: no other tenant's tokens decrypt. Null: no scheme needs keys. */
  readonly encryption: TokenEncryption | null;
  readonly hasher: PasswordHasher;
  readonly loginRateLimiter: LoginRateLimiter;
  readonly hashRateLimiter: RateLimiter;
  /** Returns the sessions, whose commands run by `query` from now on. */
  readonly sessions: (query: CommandRunner) => SessionStore;
  /** Restricts a scheme whose tokens others may issue to those of the tenant. */
  readonly restrict: (scheme: AuthScheme) => AuthScheme;
}

export interface AuthenticationDependencies {
  readonly connections: Connections;
  /** Whether a command may change the state of its database session. */
  readonly altersSession: (sql: string) => boolean;
  /** Null: not the authentication of a tenant. */
  readonly tenant?: TenantAuthentication | null;
}

/**
 * Makes the schemes of the options. The key ring is opened only when a scheme, CSRF tokens or the broadcast need it.
 * @throws StartError for invalid options, and for options that are not allowed in production
 */
export async function openAuthentication(
  options: ResolvedOptions,
  dependencies: AuthenticationDependencies,
  observe: Observer,
): Promise<Authentication> {
  const { authentication } = options;
  const { connections, tenant = null } = dependencies;
  validateAuthentication(options);
  const parts = authenticationParts(authentication, dependencies, observe);
  const sharesKeys = hasKeyStorage(authentication);
  const { broadcast } = options.events;
  const isOpen = typeof broadcast === 'string' ? broadcast !== 'local' : broadcast.isPrivate !== true;
  const encryptsBroadcast = sharesKeys && isOpen;
  const needsRing = needsKeys(authentication) || encryptsBroadcast;
  const ring = tenant === null ? (needsRing ? await openRing(parts, observe) : null) : tenant.encryption;
  const schemes = await openSchemes(parts, ring, observe);
  const guard = createCsrfGuard(authentication, ring);
  const authenticationType = authentication.defaultAuthenticationType ?? (await databaseName(connections));
  // After the queries, which may fail and run again.
  const sessionEnds = new SessionEnds(authentication, connections, parts.sessions);
  return {
    access: {
      schemes,
      mayHaveCredentials: credentialsTest(authentication),
      endpointScheme: endpointSchemes(parts),
      claimTypes: parts.claimTypes,
      csrfGuard: guard,
      alwaysAuthenticate: authentication.databaseRole !== null,
      onTokenRefused: (request, refusal) => observe({ kind: 'token-refused', request, ...refusal }),
    },
    login: {
      schemes,
      authenticationType,
      hasher: parts.hasher,
      loginRateLimiter: parts.loginRateLimiter,
      hashRateLimiter: parts.hashRateLimiter,
      csrfGuard: guard,
      claimTypes: parts.claimTypes,
      allowNullHash: authentication.allowNullHash,
      serializeResponse: authentication.serializeAuthEndpointsResponse,
      verificationFailedStatus: authentication.passwordVerificationFailedStatus,
      verificationFailedCommand: authentication.passwordVerificationFailedCommand,
      verificationSucceededCommand: authentication.passwordVerificationSucceededCommand,
      command: (sql, values) => parts.query(sql, values),
      report: parts.report,
    },
    contextKeys: contextKeysOf(authentication),
    databaseRole:
      authentication.databaseRole === null
        ? null
        : { claim: authentication.databaseRole.claim, anonymous: authentication.databaseRole.anonymous ?? null },
    sharedEncryption: sharesKeys ? ring : null,
    routes: schemes.flatMap(({ routes }) => routes),
    csrfGuard: guard,
    services: { encryption: ring, hasher: parts.hasher, sessions: parts.sessions, query: parts.query },
    sessionEnds,
    close: () => sessionEnds.close(),
  };
}

function contextKeysOf(authentication: AuthenticationOptions): ContextKeys {
  return {
    id: authentication.userIdContextKey,
    name: authentication.userNameContextKey,
    roles: authentication.userRolesContextKey,
    ipAddress: authentication.ipAddressContextKey,
    claims: authentication.userClaimsContextKey,
  };
}

async function databaseName({ main }: Connections): Promise<string> {
  const [row] = await main.query('select pg_catalog.current_database()');
  return row?.[0] ?? '';
}

function authenticationParts(
  options: AuthenticationOptions,
  { connections: { main }, altersSession, tenant = null }: AuthenticationDependencies,
  observe: Observer,
): AuthenticationParts {
  // Declared as text: PostgreSQL cannot infer the type of a parameter that the command does not use.
  const commandRunner =
    (timeout: number): CommandRunner =>
    (sql, values) =>
      main.query(sql, values, { types: values.map(() => textOid), timeout, altersSession: altersSession(sql) });
  const query = commandRunner(commandTimeoutMs);
  const sessionQuery = commandRunner(sessionTimeoutMs);
  const hasDefaultIssuer = defaultIssuerTest(options);
  const { hasher, loginRateLimiter: logins, hashRateLimiter: hashes, sessions, restrict } = tenant ?? ownParts(options);
  return {
    options,
    query,
    claimTypes: {
      id: options.defaultUserIdClaimType,
      name: options.defaultNameClaimType,
      role: options.defaultRoleClaimType,
      ...(hasDefaultIssuer === undefined ? {} : { hasDefaultIssuer }),
    },
    hasher,
    loginRateLimiter: logins,
    hashRateLimiter: hashes,
    sessions: sessions(sessionQuery),
    report: (error) => observe({ kind: 'authentication-error', error }),
    restrict,
  };
}

/** The parts of an authentication that is not one of a tenant. */
function ownParts(options: AuthenticationOptions): Omit<TenantAuthentication, 'encryption'> {
  return {
    hasher: options.passwordHasher ?? createPasswordHasher(),
    loginRateLimiter: openLoginRateLimiter(options),
    hashRateLimiter: openHashRateLimiter(options),
    sessions: (query) => openSessions(options, query),
    restrict: (scheme) => scheme,
  };
}

const textOid = 25;
/** The time limit of commands that verify passwords, and read and write keys. */
const commandTimeoutMs = 30_000;
/** The time limit of session commands, which most requests wait for. */
const sessionTimeoutMs = 3_000;

export function openLoginRateLimiter({ loginRateLimit }: AuthenticationOptions): LoginRateLimiter {
  return 'consume' in loginRateLimit ? loginRateLimit : loginRateLimiter(loginRateLimit);
}

export function openHashRateLimiter({ hashRateLimit }: AuthenticationOptions): RateLimiter {
  return 'consume' in hashRateLimit ? hashRateLimit : rateLimiter(hashRateLimit);
}

/** Returns the sessions of commands, or those of this process. */
export function openSessions(options: AuthenticationOptions, query: CommandRunner): SessionStore {
  const sessions =
    options.sessions === null ? memorySessions() : createSqlSessions(options.sessions, query, options.bearer !== false);
  return options.wrapSessions?.(sessions) ?? sessions;
}

function createSqlSessions(sessions: SessionOptions, query: CommandRunner, hasRefreshTokens: boolean): SessionStore {
  const { beginCommand, checkCommand, endCommand, refreshCommand = null, cacheSeconds } = sessions;
  return sqlSessions({
    query,
    begin: beginCommand,
    check: checkCommand,
    end: endCommand,
    refresh: refreshCommand,
    hasRefreshTokens,
    ...(cacheSeconds === undefined ? {} : { cacheSeconds }),
  });
}

const needsKeys = ({ cookie, bearer, antiforgeryPath, externalSignIn }: AuthenticationOptions): boolean =>
  cookie !== false || bearer !== false || antiforgeryPath !== null || externalSignIn !== null;

/** Whether the keys are stored, and so shared by all instances. */
const hasKeyStorage = ({
  dataProtection: { folder = null, readCommand = null, storage = null },
}: AuthenticationOptions): boolean => folder !== null || readCommand !== null || storage !== null;

async function openRing(
  { options, query, sessions, report }: AuthenticationParts,
  observe: Observer,
): Promise<KeyRing> {
  const { secret = null, previousSecrets = [], application, algorithm, keyLifetime } = options.dataProtection;
  // Imported when needed, as tokens need `jose`: it has 50 modules.
  const { openKeyRing } = await import('../auth-schemes/keys/key-ring.ts');
  const ring = await openKeyRing({
    storage: storageOf(options, query),
    secret,
    previousSecrets,
    report,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(application === undefined ? {} : { application }),
    ...(keyLifetime === undefined ? {} : { keyLifetime }),
  });
  if (options.production && ring.warnings.length > 0) {
    throw new OptionsError(`not for production: ${ring.warnings.join(' ')}`);
  }
  for (const message of [...ring.warnings, ...sessions.warnings])
    observe({ kind: 'start-warning', code: 'authentication', message });
  return ring;
}

function storageOf({ dataProtection }: AuthenticationOptions, query: CommandRunner): KeyStorage {
  const { folder = null, readCommand = null, writeCommand = null, storage = null } = dataProtection;
  if ((readCommand === null) !== (writeCommand === null)) {
    throw new OptionsError('dataProtection: set readCommand and writeCommand together');
  }
  if ([folder, readCommand, storage].filter((place) => place !== null).length > 1) {
    throw new OptionsError('dataProtection: set either folder, or readCommand and writeCommand, or storage');
  }
  if (readCommand !== null) return databaseKeyStorage({ query, read: readCommand, write: writeCommand! });
  return storage ?? (folder === null ? memoryKeyStorage() : folderKeyStorage(folder));
}

/** Without a key ring there are no CSRF tokens, and the origin decides alone. */
function createCsrfGuard(
  { allowedOrigins, crossSiteRequests }: AuthenticationOptions,
  ring: TokenEncryption | null,
): CsrfTokenGuard {
  return csrfGuard({ encryption: ring, allowedOrigins, crossSiteRequests });
}
