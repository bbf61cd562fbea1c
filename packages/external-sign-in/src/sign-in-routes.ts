import { type Caller, type Observation, Problem, type SchemeRoute } from '@pgway/core';
import type { GatewayRequest, GatewayResponse, HeaderList } from '@pgway/core';
import { authorize, errorToLoginOutcome, firstClaim, withCallerHeaders } from '@pgway/core/internal';
import { pageResponse, wantsPage } from './pages.ts';
import { type LinkTarget, type PendingSignIn, randomValue } from './pending-sign-in.ts';
import type { Provider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { publicOriginOf } from './public-origin.ts';
import type { CommandResult } from './sign-in-commands.ts';
import {
  continueAt,
  problemPage,
  redirectTo,
  returnPathOf,
  type SignInContext,
  toSignInProblem,
  withProblemHeaders,
} from './sign-in-context.ts';
import { type ExternalSession, storeExternalSession } from './sign-out.ts';

type Action = Extract<Observation, { readonly kind: 'external-sign-in' }>['action'];
type Outcome = Extract<Observation, { readonly kind: 'external-sign-in' }>['outcome'];

/** The routes of a provider: start, callback, and removal of a linked account. */
export function signInRoutes(provider: Provider, context: SignInContext): readonly SchemeRoute[] {
  const routes = new SignInRoutes(provider, context);
  const path = `${context.settings.path}/${encodeURIComponent(provider.settings.name)}`;
  const route = (method: string, at: string, handle: SchemeRoute['handle']): SchemeRoute => ({
    method,
    path: at,
    handle,
    problemPage: (problem, request) => problemPage(problem, request, { ...context, startPath: path }),
  });
  return [
    route('GET', path, (request) => routes.start(request)),
    route('POST', path, (request) => routes.start(request)),
    route('GET', `${path}/callback`, (request) => routes.complete(request)),
    ...(context.commands.canUnlink ? [route('POST', `${path}/unlink`, (request) => routes.unlink(request))] : []),
  ];
}

/** A route for signed-in callers. */
const signedInCaller = {
  endpoint: { authorization: { required: true, roles: [] }, basicAuthentication: null },
  needsCaller: true,
  changesData: true,
  endpointScheme: null,
};

/** A route for signed-in callers that changes nothing. */
const anySignedInCaller = { ...signedInCaller, changesData: false };

class SignInRoutes {
  readonly #provider: Provider;
  readonly #context: SignInContext;
  readonly #path: string;

  constructor(provider: Provider, context: SignInContext) {
    this.#provider = provider;
    this.#context = context;
    this.#path = `${context.settings.path}/${encodeURIComponent(provider.settings.name)}`;
  }

  /**
   * Sends the browser to the provider, if a page of this site or the user has asked for it. Another site could otherwise sign the
   * browser in, or link an account of its own. A link, which a mail or a bookmark may have too, adds no account without a question.
   */
  async start(request: GatewayRequest): Promise<GatewayResponse> {
    const { settings, access, commands } = this.#context;
    const parameters = new URLSearchParams(request.query);
    const returnPath = returnPathOf(parameters, settings);
    const isLink = parameters.get('link') === 'true';
    if (isLink && !commands.canLink) {
      throw new Problem('invalid-parameter', { detail: 'Accounts cannot be linked: linkCommand is not set.' });
    }
    const isPost = request.method === 'POST';
    const source = access.csrfGuard.source(request);
    // A browser always sends the origin with a POST: one of unknown origin comes from a program.
    const isAllowed = isPost ? source !== 'cross-site' : source === 'trusted' && !isLink;
    if (!isAllowed) return isLink ? this.#askToLink(request) : this.#askFirst(request);
    const caller = isLink ? await this.#callerOf(request) : null;
    const pending: PendingSignIn = {
      provider: this.#provider.settings.name,
      state: randomValue(),
      nonce: this.#provider.settings.nonce && this.#provider.settings.endpoints === null ? randomValue() : null,
      verifier: this.#provider.settings.pkce ? randomValue() : null,
      redirectUri: `${publicOriginOf(request, settings.publicOrigin)}${this.#path}/callback`,
      returnPath,
      link: caller === null ? null : this.#linkTarget(caller),
    };
    const response = await this.#sendToProvider(request, pending);
    return withCallerHeaders(response, caller);
  }

  /** Completes the sign-in of this browser. */
  async complete(request: GatewayRequest): Promise<GatewayResponse> {
    const state = new URLSearchParams(request.query).get('state') ?? '';
    const pending = state === '' ? null : await this.#context.pending.read(state, request);
    if (pending === null || pending.provider !== this.#provider.settings.name) {
      throw this.#refused(request, 'sign-in', new Problem('invalid-sign-in'));
    }
    const removal = this.#context.pending.remove(pending);
    const action = pending.link === null ? 'sign-in' : 'link';
    try {
      await this.#useOnce(pending);
      const response = await this.#limited(request, () => this.#finish(request, pending));
      return { ...response, headers: [...response.headers, ...removal] };
    } catch (error) {
      const problem = this.#observeFailure(request, action, error);
      throw withProblemHeaders(problem, removal);
    }
  }

  /** Removes the account at the provider from the user. */
  async unlink(request: GatewayRequest): Promise<GatewayResponse> {
    const returnPath = returnPathOf(new URLSearchParams(request.query), this.#context.settings);
    const caller = await this.#callerOf(request);
    const { userId } = this.#linkTarget(caller);
    try {
      const result = await this.#context.commands.unlink(this.#provider.settings.name, userId, request);
      const response = this.#respond(request, 'unlink', result, () =>
        wantsPage(request) ? redirectTo(returnPath) : { kind: 'whole', status: 204, headers: [], body: null },
      );
      return withCallerHeaders(response, caller);
    } catch (error) {
      throw this.#observeFailure(request, 'unlink', error);
    }
  }

  /** Another page, or a bookmark of a browser without `Sec-Fetch-Site`, leads to a page with a button. */
  #askFirst(request: GatewayRequest): GatewayResponse {
    this.#requirePage(request, 'Start the sign-in from a page of this site, or by POST.');
    const { label } = this.#provider.settings;
    const action = this.#postAgain(request, `Continue with ${label}`);
    return pageResponse({ status: 200, title: `Sign in with ${label}?`, action });
  }

  /**
   * Asks the signed-in user by name: the link may come from another person, who could then sign in as this user.
   * @throws Problem 401, 403
   */
  async #askToLink(request: GatewayRequest): Promise<GatewayResponse> {
    this.#requirePage(request, 'Link the account by POST from a page of this site.');
    const { access } = this.#context;
    const { caller } = await authorize([anySignedInCaller], request, access);
    const { userId } = this.#linkTarget(caller!);
    const { label } = this.#provider.settings;
    const response = pageResponse({
      status: 200,
      title: `Add an account of ${label}?`,
      paragraphs: [
        `You are signed in as ${firstClaim(caller!.claims, access.claimTypes.name) ?? userId}.`,
        `An account of ${label} will be added to this user. The owner of that account can then sign in as this user.`,
      ],
      action: this.#postAgain(request, `Add the account of ${label}`),
    });
    return withCallerHeaders(response, caller);
  }

  /** @throws Problem 403 for a request that cannot be answered with a question */
  #requirePage(request: GatewayRequest, detail: string): void {
    if (request.method !== 'GET' || !wantsPage(request)) throw new Problem('cross-site-request', { detail });
  }

  /** A button that sends the request by POST. */
  #postAgain(
    { query }: GatewayRequest,
    label: string,
  ): { readonly method: 'POST'; readonly url: string; readonly label: string } {
    return { method: 'POST', url: `${this.#path}${query === '' ? '' : `?${query}`}`, label };
  }

  /** @throws Problem 401, or 403 for a cross-site request */
  async #callerOf(request: GatewayRequest): Promise<Caller> {
    return (await authorize([signedInCaller], request, this.#context.access)).caller!;
  }

  #linkTarget(caller: Caller): LinkTarget {
    const userId = firstClaim(caller.claims, this.#context.access.claimTypes.id);
    if (userId !== null) return { userId, session: caller.session };
    throw new Problem('forbidden', { title: 'The caller has no user id that an account could be linked to' });
  }

  async #sendToProvider(request: GatewayRequest, pending: PendingSignIn): Promise<GatewayResponse> {
    const url = await this.#provider.authorizationUrl(pending).catch((error: unknown) => {
      throw this.#observeFailure(request, pending.link === null ? 'sign-in' : 'link', error);
    });
    const headers = await this.#context.pending.store(pending, request);
    if (request.method === 'GET') return redirectTo(url.href, headers);
    return continueAt(request, { url: url.href, title: `Continue to ${this.#provider.settings.label}`, headers });
  }

  /** @throws Problem for a sign-in that is complete, also on another instance: a copied cookie is valid once */
  async #useOnce({ state }: PendingSignIn): Promise<void> {
    const { store, settings, refusesWhenStoreUnavailable } = this.#context;
    const policy = {
      name: 'external sign-in',
      type: 'fixed-window',
      limit: 1,
      windowMs: settings.lifetime * 1000,
    } as const;
    const decision = await store.acquire(policy, state);
    if (decision?.allowed === false) throw new Problem('invalid-sign-in');
    if (decision === null && refusesWhenStoreUnavailable) throw new Problem('rate-limit-unavailable');
  }

  /** Counts the attempt of the address as a login. */
  async #limited(
    request: GatewayRequest,
    finish: () => Promise<{ readonly isAccepted: boolean; readonly response: GatewayResponse }>,
  ): Promise<GatewayResponse> {
    const { loginRateLimiter } = this.#context.login;
    const attempt = { user: null, address: request.remoteAddress ?? null };
    const result = await loginRateLimiter.consume(attempt);
    if (!result.ok) throw new Problem('too-many-attempts', { headers: ['retry-after', String(result.retryAfter)] });
    try {
      const { isAccepted, response } = await finish();
      loginRateLimiter.complete(attempt, isAccepted ? 'succeeded' : 'failed');
      return response;
    } catch (error) {
      // An outage or a cancelled sign-in is not a guess; a refused code may be one.
      const isNoGuess = error instanceof ProviderError && error.failure !== 'invalid-response';
      loginRateLimiter.complete(attempt, isNoGuess ? 'aborted' : errorToLoginOutcome(error));
      throw error;
    }
  }

  async #finish(
    request: GatewayRequest,
    pending: PendingSignIn,
  ): Promise<{ readonly isAccepted: boolean; readonly response: GatewayResponse }> {
    const { commands } = this.#context;
    const { link, returnPath, provider } = pending;
    if (link !== null) await this.#requireSession(link);
    const { identity, idToken } = await this.#provider.authorize(request.query, pending);
    const user = { provider, identity, request, returnPath };
    const result = await (link === null ? commands.login(user) : commands.link(user, link));
    const external: ExternalSession | null =
      result.kind === 'accepted' && link === null && idToken !== null ? { provider, idToken } : null;
    const headers = external === null ? [] : await storeExternalSession(external, pending, this.#context);
    const response = this.#respond(request, link === null ? 'sign-in' : 'link', result, (accepted) =>
      link === null ? signedInResponse(accepted, returnPath, headers) : linkedResponse(request, returnPath),
    );
    return { isAccepted: result.kind === 'accepted', response };
  }

  /** @throws Problem when the session that has started the link has ended */
  async #requireSession({ session }: LinkTarget): Promise<void> {
    if (session === null || (await this.#context.sessions.isAlive(session))) return;
    throw new Problem('invalid-sign-in', { detail: 'The session that has started this has ended. Sign in again.' });
  }

  #respond(
    request: GatewayRequest,
    action: Action,
    result: CommandResult,
    accept: (accepted: Extract<CommandResult, { readonly kind: 'accepted' }>) => GatewayResponse,
  ): GatewayResponse {
    if (result.kind === 'accepted') {
      this.#observe(request, action, 'succeeded', null);
      return accept(result);
    }
    this.#observe(request, action, 'refused', `the command has refused the user with status ${result.status}`);
    return wantsPage(request) ? refusalPage(result, this.#path) : result.response;
  }

  #refused(request: GatewayRequest, action: Action, problem: Problem): Problem {
    this.#observe(request, action, 'refused', problem.detail ?? problem.title);
    return problem;
  }

  /** Reports the reason, and returns the problem for the client. */
  #observeFailure(request: GatewayRequest, action: Action, error: unknown): Problem {
    const problem = toSignInProblem(error, this.#provider.settings, this.#context);
    if (error instanceof ProviderError) {
      this.#observe(request, action, error.failure === 'denied' ? 'refused' : 'failed', error.message);
      return problem;
    }
    return this.#refused(request, action, problem);
  }

  #observe(request: GatewayRequest, action: Action, outcome: Outcome, reason: string | null): void {
    const { name: provider } = this.#provider.settings;
    this.#context.observe({ kind: 'external-sign-in', request, provider, action, outcome, reason });
  }
}

/**
 * Sends the browser to the path. A cookie with `SameSite=Strict` is not sent with a redirect that another site has begun: a page
 * continues instead. The tokens of other schemes are the response, as for a login routine.
 */
function signedInResponse(
  { headers, body }: Extract<CommandResult, { readonly kind: 'accepted' }>,
  returnPath: string,
  ownHeaders: HeaderList,
): GatewayResponse {
  if (body !== null) return { kind: 'whole', status: 200, headers: [...headers, ...ownHeaders], body };
  const fields = [...withoutCacheControl(headers), ...ownHeaders];
  if (!headers.some((value) => /;\s*samesite=strict/i.test(value))) return redirectTo(returnPath, fields);
  return continuePage('You are signed in', returnPath, fields);
}

/** The cookie of the user may be one with `SameSite=Strict`, too. */
function linkedResponse(request: GatewayRequest, returnPath: string): GatewayResponse {
  return wantsPage(request) ? continuePage('The account is linked', returnPath) : redirectTo(returnPath);
}

/** The browser requests the path as a link of this page, which is a page of this site. */
function continuePage(title: string, path: string, headers: HeaderList = []): GatewayResponse {
  const action = { method: 'GET' as const, url: path, label: 'Continue' };
  return pageResponse({ status: 200, title, continueTo: path, action, headers });
}

function withoutCacheControl(headers: HeaderList): HeaderList {
  return headers.filter((_, index) => headers[index - (index % 2)] !== 'cache-control');
}

function refusalPage(
  { status, response }: Extract<CommandResult, { readonly kind: 'refused' }>,
  startPath: string,
): GatewayResponse {
  const message = response.kind === 'whole' && typeof response.body === 'string' ? response.body : '';
  const challenges = response.headers.flatMap((name, index) =>
    index % 2 === 0 && name === 'www-authenticate' ? [name, response.headers[index + 1]!] : [],
  );
  return pageResponse({
    status,
    title: 'The sign-in was refused',
    paragraphs: message === '' ? [] : [message],
    action: { method: 'GET', url: startPath, label: 'Try again' },
    headers: challenges,
  });
}
