/** The gateway of tests: that of the configuration, whose calls run in the transaction of the current test. */
import {
  type AuthScheme,
  type Caller,
  createGateway,
  type Endpoint,
  type Gateway,
  type GatewayOptions,
  memoryRateLimits,
  type Observation,
  Problem,
  type ProvidedConnection,
  type RateLimitStore,
} from '@pgway/core';
import { DatabaseError } from '@pgway/core/connection';
import { readClaims, selectRole } from '@pgway/core/internal';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { gatewayOptions } from '../gateway-options.ts';
import type { Identity } from './test-file.ts';
import type { TestSession } from './test-session.ts';

export interface TestGatewayInput {
  readonly configuration: Configuration;
  readonly connectionString: string;
  readonly workingDirectory: string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** What a request has led to. */
export interface RequestOutcome {
  /** Null: no endpoint has the path. */
  readonly response: TestResponse | null;
  /** The endpoint whose call has begun; null: none. */
  readonly endpoint: Endpoint | null;
  /** Why the request cannot run in the transaction of a test; null: it can. */
  readonly refusal: string | null;
}

export interface TestRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
  readonly identity: Identity | null;
}

/** Bytes; a larger response is not compared. */
const maxBodySize = 16 * 1024 * 1024;
const invalidTransactionTermination = '2D000';

/** The requests of tests, one after the other. */
export class TestGateway {
  readonly #configuration: Configuration;
  #gateway: Gateway | null = null;
  #session: TestSession | null = null;
  #caller: Caller | null = null;
  #endpoint: Endpoint | null = null;
  #refusal: string | null = null;
  #rateLimits: RateLimitStore = memoryRateLimits();

  private constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  /** @throws StartError; ConfigurationError for settings whose requests do not run in one transaction */
  static async open({ configuration, connectionString, workingDirectory }: TestGatewayInput): Promise<TestGateway> {
    if (configuration.tenant.by !== null)
      throw new ConfigurationError([
        'tenant.by: pgway test has one database; test that of a tenant, with --connectionString and without tenant.by',
      ]);
    const tests = new TestGateway(configuration);
    const options = await gatewayOptions(configuration, connectionString, {
      workingDirectory,
      observer: (observation) => tests.#observe(observation),
      strict: false,
    });
    tests.#gateway = await createGateway(tests.#adapt(options));
    return tests;
  }

  get gateway(): Gateway {
    return this.#gateway!;
  }

  /** Begins a test: no earlier request counts for rate limits. */
  begin(session: TestSession): void {
    this.#session = session;
    this.#rateLimits = memoryRateLimits();
  }

  /** Sends a request to the endpoints. */
  async send({ method, target, headers, body, identity }: TestRequest): Promise<RequestOutcome> {
    this.#endpoint = null;
    this.#refusal = null;
    this.#caller = identity === null ? null : this.#toCaller(identity);
    try {
      const request = new Request(`https://localhost${target}`, {
        method,
        headers: [
          ...(body === null || headers.some(([name]) => name.toLowerCase() === 'content-type')
            ? []
            : [['content-type', 'application/json'] as [string, string]]),
          ...headers.map(([name, value]): [string, string] => [name, value]),
        ],
        ...(body === null ? {} : { body }),
      });
      const response = await this.gateway.fetch(request, { remoteAddress: '127.0.0.1' });
      const read = response === undefined ? null : await this.#read(response);
      return { response: read, endpoint: this.#endpoint, refusal: this.#refusal };
    } finally {
      this.#caller = null;
    }
  }

  /** The role that the calls of an identity have; null: that of the connection. */
  roleOf(identity: Identity | null): string | null {
    const { claim, anonymous } = this.#configuration.authentication.databaseRole;
    if (claim === null) return null;
    return selectRole(identity === null ? null : this.#toCaller(identity), { claim, anonymous });
  }

  async #read(response: Response): Promise<TestResponse> {
    const { status, headers } = response;
    if (headers.get('content-type')?.startsWith('text/event-stream') === true) {
      await response.body?.cancel();
      this.#refusal ??=
        'an event stream does not end, and its events come from committed calls; test the endpoint that raises them';
      return { status, headers, body: '' };
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBodySize) {
        this.#refusal ??= `the response is larger than ${maxBodySize} bytes; request fewer rows`;
        break;
      }
      chunks.push(chunk);
    }
    return { status, headers, body: Buffer.concat(chunks).toString() };
  }

  /** Returns the caller that a verified token with these claims has. */
  #toCaller({ claims }: Identity): Caller {
    const { authentication, jwt } = this.#configuration;
    return {
      scheme: scheme.name,
      claims: readClaims(claims, jwt.claims, authentication.defaultUserIdClaimType),
      issuer: null,
      payload: JSON.stringify(claims),
      session: null,
      sentByBrowser: false,
    };
  }

  #observe(observation: Observation): void {
    if (observation.kind !== 'request-failed') return;
    const { error } = observation;
    if (error instanceof DatabaseError && error.diagnostics.code === invalidTransactionTermination)
      this.#refusal ??=
        'the procedure ends its transaction, which is that of the test; a procedure that commits cannot be tested';
  }

  /** Replaces everything that would last longer than the transaction of a test, or would not be a part of it. */
  #adapt(options: GatewayOptions): GatewayOptions {
    const { authentication = {}, events, rateLimits, defaultRoutineCache: _, ...others } = options;
    return {
      ...others,
      authentication: {
        ...authentication,
        schemes: [{ ...scheme, authenticate: () => this.#caller }, ...(authentication.schemes ?? [])],
        externalSignIn: null,
        dataProtection: {},
        sessions: null,
        passwordVerificationFailedCommand: null,
        passwordVerificationSucceededCommand: null,
        production: false,
      },
      connectionProvider: Object.assign((_: unknown, endpoint: Endpoint) => this.#provide(endpoint), {
        isolatesCalls: true,
      }),
      cacheEnabled: false,
      cacheInvalidateChannel: null,
      refreshOnNotify: null,
      batchPath: null,
      readReplicas: {},
      events: { ...events, broadcast: 'local' },
      rateLimits: { ...rateLimits, store: this.#limitStore() },
    };
  }

  #limitStore(): RateLimitStore {
    return {
      acquire: (policy, key) => this.#rateLimits.acquire(policy, key),
      release: (policy, key, permit) => this.#rateLimits.release(policy, key, permit),
      close: () => undefined,
    };
  }

  /** @throws Problem for a call that cannot run in the transaction of a test */
  async #provide(endpoint: Endpoint): Promise<ProvidedConnection> {
    const session = this.#session!;
    this.#refusal ??= refuse(endpoint);
    if (this.#refusal !== null)
      throw new Problem('not-in-test', {
        status: 500,
        title: 'pgway test cannot run this request',
        detail: this.#refusal,
      });
    if (this.#endpoint !== null) await session.endCall();
    this.#endpoint = endpoint;
    return {
      client: session.client,
      release: (error) => {
        if (error !== undefined) session.lose(error);
      },
    };
  }
}

function refuse({ connection, upload }: Endpoint): string | null {
  if (connection !== null)
    return `the endpoint runs on the connection ${JSON.stringify(connection)}, and not in the transaction of the test`;
  if (upload !== null) return 'uploads may store files outside of the database; test the routine that they call';
  return null;
}

const scheme: AuthScheme = {
  name: 'test',
  authenticate: () => null,
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};
