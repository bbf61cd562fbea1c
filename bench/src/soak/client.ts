import type { HttpClient, HttpResult, HttpRequest } from './http-client.ts';
import type { GuaranteeName, Violations } from './guarantees.ts';
import type { Random } from './random.ts';
import type { Statistics } from './statistics.ts';
import type { Roles, User } from './users.ts';
import type { WriteLog } from './write-log.ts';

/** What all clients of one route have in common. */
export interface LoadContext {
  readonly http: HttpClient;
  readonly violations: Violations;
  readonly writes: WriteLog;
  readonly statistics: Statistics;
  readonly roles: Roles;
  readonly anonymous: User;
  /** Names of the routines that leave something in their session. */
  readonly leftovers: readonly string[];
  /** `session_state` without its token, before anything ran. */
  sessionState: string;
}

export interface SoakCall {
  readonly operation: string;
  readonly user: User;
  /** Method and path without the prefix: `GET /echo`. */
  readonly line: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly leave?: HttpRequest['leave'];
  readonly pauseMs?: number;
  /** A stream may be cut off when its connection to the database is lost. */
  readonly isStream?: boolean;
  /** The client takes nothing for so long that the gateway has to cut the answer off. */
  readonly neverReads?: boolean;
  /** The routine raises this SQLSTATE, or the call runs into its timeout: 500 and 504 are violations for all other calls. */
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
  /** Nothing was done: "try again". */
  | { readonly kind: 'notSent' }
  /** Failed: 500 or 504 that nothing in the call asked for. */
  | { readonly kind: 'unknown' | 'cut' | 'left' | 'failed' };

/** Prefix of every path. */
const prefix = '/api';
const describedBody = 400;

/** One simulated client: one request at a time, as one of its users. */
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

  /** Returns a text that no other call of the run has. */
  token(): string {
    return `c${this.index}n${this.#tokens++}`;
  }

  /** Returns one of the users of the client, or the anonymous one. */
  anyUser(): User {
    return this.random.chance(0.1) ? this.context.anonymous : this.random.pick(this.users);
  }

  /** Sends the call and checks what holds for all of them. */
  async call(call: SoakCall): Promise<CallOutcome> {
    const reply = await this.context.http.send(requestOf(call));
    this.context.statistics.requests++;
    const outcome = this.#judge(call, reply);
    this.context.statistics.add(call.operation, outcome.kind);
    return outcome;
  }

  reportViolation(promise: GuaranteeName, call: SoakCall, what: string): void {
    const { user, line, query, body } = call;
    const sent = JSON.stringify({ ...query, ...(body === undefined ? {} : { body }) }).slice(0, describedBody);
    this.context.violations.add(promise, `${line} ${sent} as ${user.id ?? 'anonymous'} (${user.role}): ${what}`);
  }

  #judge(call: SoakCall, reply: HttpResult): CallOutcome {
    if (reply.kind === 'left') return reply;
    if (reply.kind === 'too-late') {
      this.reportViolation('in-time', call, 'no whole answer in time');
      return { kind: 'unknown' };
    }
    if (reply.kind === 'broken') return this.#judgeBroken(call, reply);
    if (reply.status === 503) return this.#judgeUnavailable(call, reply);
    const text = reply.body.toString();
    if (reply.status >= 500 && !isRaised(call, text)) {
      const promise = reply.status === 500 ? 'no-500' : 'status';
      this.reportViolation(promise, call, `${reply.status} ${text.slice(0, describedBody)}`);
      return { kind: 'failed' };
    }
    return { ...reply, kind: 'answered', text };
  }

  #judgeBroken(call: SoakCall, { status, reason }: HttpResult & { kind: 'broken' }): CallOutcome {
    if (call.neverReads === true && status === 200) return { kind: 'left' };
    if (call.isStream === true && status === 200) return { kind: 'cut' };
    this.reportViolation('whole', call, `${reason}, after the status ${status ?? 'none'}`);
    return { kind: 'unknown' };
  }

  #judgeUnavailable(call: SoakCall, { headers, body }: HttpResult & { kind: 'answer' }): CallOutcome {
    const retry = headers['retry-after'] !== undefined;
    const unknown = body.includes('outcome-unknown');
    if (retry === unknown) {
      this.reportViolation(
        'unavailable',
        call,
        `503, Retry-After: ${String(headers['retry-after'])}, ${body.toString()}`,
      );
    } else if (unknown && call.line.startsWith('GET')) {
      this.reportViolation('unavailable', call, `a read that was lost was not run again: ${body.toString()}`);
    }
    return { kind: retry ? 'notSent' : 'unknown' };
  }
}

function isRaised({ raises }: SoakCall, text: string): boolean {
  return raises !== undefined && (text.includes(`"code":"${raises}"`) || text.includes(`problem:${raises}"`));
}

function requestOf(call: SoakCall): HttpRequest {
  const [method = '', path = ''] = call.line.split(' ');
  const query = call.query === undefined ? '' : `?${queryOf(call.query)}`;
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
    ...(call.leave === undefined ? {} : { leave: call.leave }),
    ...(call.pauseMs === undefined ? {} : { pauseMs: call.pauseMs }),
  };
}

function queryOf(query: Readonly<Record<string, string | number>>): string {
  return Object.entries(query)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
}
