import type { AccessControl } from '../auth/authorize.ts';
import type { LoginOptions } from '../auth/login-options.ts';
import type { ControlColumnNames } from '../auth-schemes/challenge.ts';
import type { CommandRunner } from '../auth-schemes/command-runner.ts';
import type { TokenEncryption } from '../auth-schemes/keys/key-ring.ts';
import type { SessionStore } from '../auth-schemes/sessions.ts';
import type { Problem } from '../http/problem.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';
import type { RateLimitStore } from '../ports/rate-limit-store.ts';

/** The services of the gateway that sign-in through external providers uses. */
export interface ExternalSignInServices {
  readonly access: AccessControl;
  readonly login: LoginOptions;
  /** Runs the commands. */
  readonly query: CommandRunner;
  readonly names: ControlColumnNames;
  readonly encryption: TokenEncryption;
  readonly sessions: Pick<SessionStore, 'isAlive'>;
  /** Remembers which sign-ins are complete, on all instances that share it. */
  readonly store: Pick<RateLimitStore, 'acquire'>;
  readonly refusesWhenStoreUnavailable: boolean;
  /** Turns an error of a command into a problem. */
  readonly toProblem: (error: unknown) => Problem;
  /** Whether pages may quote PostgreSQL's messages. */
  readonly showsDatabaseMessages: boolean;
  /** Disconnects the event streams of a session. */
  readonly endSession: (session: string) => void;
  readonly observe: Observer;
}

/** Sign-in through external providers in the browser, as `externalSignIn` of `@pgway/external-sign-in` returns it. */
export interface ExternalSignIn {
  /**
   * The origin of the pages, such as `https://app.example.org`. Null: that of the request, if its host is a loopback name. With tenants
   * that have hosts, `{tenant}` is the name of the tenant.
   */
  readonly publicOrigin: string | null;
  /**
   * Returns the routes of the providers. No provider is called before the first sign-in.
   * @param publicOrigin that of the tenant, if there are tenants with hosts
   * @throws TypeError for options that are incomplete or contradict each other
   */
  readonly routes: (services: ExternalSignInServices, publicOrigin: string | null) => readonly SchemeRoute[];
}
