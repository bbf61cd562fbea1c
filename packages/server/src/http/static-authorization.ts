/** Authorization of static files: which paths need a caller, and the responses to callers that may not have them. */
import { type Caller, type Gateway, Problem } from '@pgway/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from '../config/schema.ts';
import { type PathTest, pathTest } from './path-pattern.ts';
import type { StaticPath } from './static-path.ts';

export interface AccessRule {
  readonly matches: PathTest;
  readonly roles: readonly string[];
}

export function accessRules({ authorize }: Configuration['staticFiles']): readonly AccessRule[] {
  return authorize.map(({ path, roles = [] }) => {
    const matches = pathTest(path);
    return { matches: (text) => spellings(text).some(matches), roles };
  });
}

/** A path with and without the slash of a folder, and of the file that it is a compressed form of. */
function spellings(path: string): readonly string[] {
  const plain = path.replace(/\.(?:br|gz|deflate)$/i, '');
  return [path, `${path}/`, plain];
}

/** The rules that have been applied to a request, and the caller that they have found. */
export class Access {
  readonly #rules: readonly AccessRule[];
  readonly #gateway: Gateway;
  readonly #request: FastifyRequest;
  readonly #passed = new Set<AccessRule>();
  #caller: Caller | null = null;

  constructor(rules: readonly AccessRule[], gateway: Gateway, request: FastifyRequest) {
    this.#rules = rules;
    this.#gateway = gateway;
    this.#request = request;
  }

  /** Whether the response is for signed-in callers only. */
  get isRestricted(): boolean {
    return this.#passed.size > 0;
  }

  /** Whether there is any rule at all. */
  get hasRules(): boolean {
    return this.#rules.length > 0;
  }

  /**
   * Applies every rule for these paths.
   * @throws Problem 401, 403, 503
   */
  async require(...paths: readonly string[]): Promise<void> {
    for (const rule of this.#pending(paths)) {
      // Sequential: the first refusal is the response.
      this.#caller = await this.#gateway.authorize(this.#request.raw, { roles: rule.roles });
      this.#passed.add(rule);
    }
  }

  /** Whether a rule for these paths has not been applied. */
  isPending(paths: readonly string[]): boolean {
    return this.#pending(paths).length > 0;
  }

  /**
   * Returns the caller of a page without authorization; null for an anonymous caller, and for refused credentials.
   * @throws Problem 503
   */
  async identify(): Promise<Caller | null> {
    if (this.#caller !== null) return this.#caller;
    try {
      this.#caller = await this.#gateway.authenticate(this.#request.raw);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }
    return this.#caller;
  }

  /** Adds the headers for the caller, such as a renewed cookie. */
  addHeaders(reply: FastifyReply): void {
    const headers = this.#caller?.headers ?? [];
    for (let index = 0; index < headers.length; index += 2) reply.header(headers[index]!, headers[index + 1]!);
  }

  #pending(paths: readonly string[]): readonly AccessRule[] {
    return this.#rules.filter((rule) => !this.#passed.has(rule) && paths.some(rule.matches));
  }
}

/** Whether a browser loads a page, rather than a part of one. */
export function isNavigation({ headers }: FastifyRequest): boolean {
  const mode = headers['sec-fetch-mode'];
  return (mode === undefined || mode === 'navigate') && headers.accept?.includes('text/html') === true;
}

/** Redirects to the login page. `path` begins with one slash, so that the login can only return to this origin. */
export function redirectToLogin(loginPage: string, path: StaticPath, reply: FastifyReply): FastifyReply {
  const [page, ...fragment] = loginPage.split('#');
  const mark = page!.includes('?') ? '&' : '?';
  const target = [`${page}${mark}return_to=${encodeURIComponent(path.encoded + path.query)}`, ...fragment].join('#');
  return reply.code(302).header('cache-control', 'no-store').redirect(target);
}

/** Sends the problem in the configured format. A failure of the server says no more than its title. */
export function sendProblem(problem: Problem, format: 'problem' | 'text', reply: FastifyReply): FastifyReply {
  const { type, title, status, detail, headers } = problem;
  for (let index = 0; index < headers.length; index += 2) reply.header(headers[index]!, headers[index + 1]!);
  reply.code(status).header('cache-control', 'no-store');
  const shown = status < 500 && detail !== undefined ? { detail } : {};
  return format === 'text'
    ? reply.type('text/plain; charset=utf-8').send([title, ...Object.values(shown)].join('. '))
    : reply
        .header('content-type', 'application/problem+json')
        .send(Buffer.from(JSON.stringify({ type, title, status, ...shown })));
}
