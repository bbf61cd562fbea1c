import type { HttpClient, HttpResult, HttpRequest } from './http-client.ts';
import type { GuaranteeName, Violations } from './guarantees.ts';
import type { Random } from './random.ts';
import type { Statistics } from './statistics.ts';
import type { Roles, User } from './users.ts';
import type { WriteLog } from './write-log.ts';

/** The values that all clients of a route share. */
export interface LoadContext {
  readonly http: HttpClient;
  readonly violations: Violations;
  readonly writes: WriteLog;
  readonly statistics: Statistics;
  readonly roles: Roles;
  readonly anonymous: User;
  /** Names of the routines that change their session. */
  readonly leftovers: readonly string[];
  /** The first result of `session_state`, without its token. */
  sessionState: string;
}

export interface SoakCall {
  readonly operation: string;
  readonly user: User;
  /** Method and path without the prefix: `GET /echo`. */
  readonly line: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** A text is sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disconnect?: HttpRequest['disconnect'];
  readonly pauseMs?: number;
  /** A streamed response may end early when its database connection is lost. */
  readonly isStream?: boolean;
  /** The client reads nothing for longer than `slowClientTimeout`, so that the gateway ends the response. */
  readonly neverReads?: boolean;
  /** The SQLSTATE that the routine raises, or `timeout`. For all other calls, 500 and 504 are violations. */
  readonly raises?: string;
}

export type CallOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, unknown>>;
      readonly body: Buffer;
      readonly text: string;
    }
  /** 503 with Retry-After: the call was not sent. */
  | { readonly kind: 'notSent' }
  /** `failed`: an unexpected 500 or 504. */
  | { readonly kind: 'unknown' | 'cut' | 'disconnected' | 'failed' };

/** Prefix of every path. */
const prefix = '/api';
const maxShownCharacters = 400;

/** A simulated client. It sends one request at a time, as one of its users. */
export class Client {
  readonly index: number;
  readonly context: LoadContext;
  readonly random: Random;
  readonly users: readonly User[];
  #tokens = 0;

  constructor(index: number, load: LoadContext, random: Random, users: readonly User[]) {
    this.index = index;
    this.context = load;
    this.random = random;
    this.users = users;
  }

  /** Returns a text that is unique in the run. */
  token(): string {
    return `c${this.index}n${this.#tokens++}`;
  }

  /** Returns one of the users of the client, or the anonymous one. */
  anyUser(): User {
    return this.random.chance(0.1) ? this.context.anonymous : this.random.pick(this.users);
  }

  /** Sends the call and checks the guarantees of all calls. */
  async call(call: SoakCall): Promise<CallOutcome> {
    const reply = await this.context.http.send(toHttpRequest(call));
    this.context.statistics.requests++;
    const outcome = this.#toOutcome(call, reply);
    this.context.statistics.add(call.operation, outcome.kind);
    return outcome;
  }

  reportViolation(guarantee: GuaranteeName, call: SoakCall, reason: string): void {
    const { user, line, query, body } = call;
    const sent = JSON.stringify({ ...query, ...(body === undefined ? {} : { body }) }).slice(0, maxShownCharacters);
    this.context.violations.add(guarantee, `${line} ${sent} as ${user.id ?? 'anonymous'} (${user.role}): ${reason}`);
  }

  #toOutcome(call: SoakCall, reply: HttpResult): CallOutcome {
    if (reply.kind === 'disconnected') return reply;
    if (reply.kind === 'timeout') {
      this.reportViolation('in-time', call, 'no complete response in time');
      return { kind: 'unknown' };
    }
    if (reply.kind === 'broken') return this.#toOutcomeBroken(call, reply);
    if (reply.status === 503) return this.#toOutcomeUnavailable(call, reply);
    const text = reply.body.toString();
    if (reply.status >= 500 && !isRaised(call, text)) {
      const guarantee = reply.status === 500 ? 'no-500' : 'status';
      this.reportViolation(guarantee, call, `${reply.status} ${text.slice(0, maxShownCharacters)}`);
      return { kind: 'failed' };
    }
    return { ...reply, kind: 'answered', text };
  }

  #toOutcomeBroken(call: SoakCall, { status, reason }: HttpResult & { kind: 'broken' }): CallOutcome {
    if (call.neverReads === true && status === 200) return { kind: 'disconnected' };
    if (call.isStream === true && status === 200) return { kind: 'cut' };
    this.reportViolation('whole', call, `${reason}, after the status ${status ?? 'none'}`);
    return { kind: 'unknown' };
  }

  #toOutcomeUnavailable(call: SoakCall, { headers, body }: HttpResult & { kind: 'response' }): CallOutcome {
    const retry = headers['retry-after'] !== undefined;
    const unknown = body.includes('outcome-unknown');
    if (retry === unknown) {
      this.reportViolation(
        'unavailable',
        call,
        `503, Retry-After: ${String(headers['retry-after'])}, ${body.toString()}`,
      );
    } else if (unknown && call.line.startsWith('GET')) {
      this.reportViolation('unavailable', call, `a lost read was not repeated: ${body.toString()}`);
    }
    return { kind: retry ? 'notSent' : 'unknown' };
  }
}

function isRaised({ raises }: SoakCall, text: string): boolean {
  return raises !== undefined && (text.includes(`"code":"${raises}"`) || text.includes(`problem:${raises}"`));
}

function toHttpRequest(call: SoakCall): HttpRequest {
  const [method = '', path = ''] = call.line.split(' ');
  const query = call.query === undefined ? '' : `?${toQueryString(call.query)}`;
  const isText = typeof call.body === 'string';
  return {
    method,
    path: prefix + path + query,
    headers: {
      ...(call.body === undefined ? {} : { 'content-type': isText ? 'text/plain' : 'application/json' }),
      ...(call.user.token === null ? {} : { authorization: `Bearer ${call.user.token}` }),
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: isText ? (call.body as string) : JSON.stringify(call.body) }),
    ...(call.disconnect === undefined ? {} : { disconnect: call.disconnect }),
    ...(call.pauseMs === undefined ? {} : { pauseMs: call.pauseMs }),
  };
}

function toQueryString(query: Readonly<Record<string, string | number>>): string {
  return Object.entries(query)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
}
