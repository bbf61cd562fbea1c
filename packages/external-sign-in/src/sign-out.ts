import type { SchemeRoute } from '@pgway/core';
import type { GatewayRequest, GatewayResponse, HeaderList } from '@pgway/core';
import { authorize, logout, signInRoute, toError } from '@pgway/core/internal';
import { parseCookie, stringifySetCookie } from 'cookie';

import { wantsPage } from './pages.ts';
import type { PendingSignIn } from './pending-sign-in.ts';
import type { Provider } from './provider.ts';
import { publicOriginOf } from './public-origin.ts';
import { continueAt, problemPage, redirectTo, returnPathOf, type SignInContext } from './sign-in-context.ts';

/** The session at a provider. */
export interface ExternalSession {
  readonly provider: string;
  /** Null when it is too long for a cookie. */
  readonly idToken: string | null;
}

const purpose = 'external session';
const cookieName = 'pgway-signout';
const maxCookieLength = 4093;
/** Seconds. Providers accept an expired ID token as a hint. */
const lifetime = 90 * 86_400;

/** Returns the headers that store the session at the provider in the browser, for the path of the sign-out only. */
export async function storeExternalSession(
  session: ExternalSession,
  { redirectUri }: Pick<PendingSignIn, 'redirectUri'>,
  context: SignInContext,
): Promise<HeaderList> {
  const { encryption, settings } = context;
  const secure = redirectUri.startsWith('https:');
  const expires = Math.floor(Date.now() / 1000) + lifetime;
  const lineOf = async (stored: ExternalSession): Promise<string> =>
    cookieLine(await encryption.encrypt(purpose, stored, expires), lifetime, { path: settings.signOutPath, secure });
  const line = await lineOf(session);
  // Browsers drop longer cookies. Without a hint, the provider asks its user.
  return ['set-cookie', line.length <= maxCookieLength ? line : await lineOf({ ...session, idToken: null })];
}

/** The route that ends the session here, and then the session at the provider. */
export function signOutRoute(providers: ReadonlyMap<string, Provider>, context: SignInContext): SchemeRoute {
  const { settings } = context;
  return {
    method: 'POST',
    path: settings.signOutPath,
    handle: (request) => signOut(request, providers, context),
    problemPage: (problem, request) =>
      problemPage(problem, request, { ...context, startPath: settings.defaultReturnPath }),
  };
}

/** A route that every caller passes; another site cannot call it. */
const anySignOut = { ...signInRoute, changesData: true };

async function signOut(
  request: GatewayRequest,
  providers: ReadonlyMap<string, Provider>,
  context: SignInContext,
): Promise<GatewayResponse> {
  const { access, login, observe, endSession, settings } = context;
  const returnPath = returnPathOf(new URLSearchParams(request.query), settings);
  const { caller } = await authorize([anySignOut], request, access);
  const { headers } = await logout({ request, caller, names: [], observe }, login);
  const session = caller?.session ?? null;
  if (session !== null) endSession(session);
  const external = await readExternalSession(request, context);
  const provider = external === null ? undefined : providers.get(external.provider);
  const removal = cookieLine('', 0, {
    path: settings.signOutPath,
    secure: request.secure || settings.publicOrigin?.startsWith('https:') === true,
  });
  const all = [
    ...headers.filter((_, index) => headers[index - (index % 2)] !== 'cache-control'),
    'set-cookie',
    removal,
  ];
  const url =
    provider === undefined ? null : await signOutUrl(request, { provider, external: external!, returnPath }, context);
  if (url === null) {
    return wantsPage(request)
      ? redirectTo(returnPath, all)
      : continueAt(request, { url: returnPath, title: '', headers: all });
  }
  return continueAt(request, { url, title: `Signing out of ${provider!.settings.label}`, headers: all });
}

interface ProviderSignOut {
  readonly provider: Provider;
  readonly external: ExternalSession;
  readonly returnPath: string;
}

/** Returns null when the provider has no sign-out or is unavailable: the session here has ended anyway. */
async function signOutUrl(
  request: GatewayRequest,
  { provider, external, returnPath }: ProviderSignOut,
  { settings, observe }: SignInContext,
): Promise<string | null> {
  const { name } = provider.settings;
  try {
    const returnUrl = `${publicOriginOf(request, settings.publicOrigin)}${returnPath}`;
    const url = await provider.signOutUrl(external.idToken, returnUrl);
    if (url === null) return null;
    observe({
      kind: 'external-sign-in',
      request,
      provider: name,
      action: 'sign-out',
      outcome: 'succeeded',
      reason: null,
    });
    return url.href;
  } catch (error) {
    const reason = toError(error).message;
    observe({ kind: 'external-sign-in', request, provider: name, action: 'sign-out', outcome: 'failed', reason });
    return null;
  }
}

async function readExternalSession(
  request: GatewayRequest,
  { encryption }: SignInContext,
): Promise<ExternalSession | null> {
  const value = parseCookie(request.header('cookie') ?? '')[cookieName];
  return value === undefined ? null : ((await encryption.decrypt(purpose, value)) as ExternalSession | null);
}

interface CookieScope {
  readonly path: string;
  readonly secure: boolean;
}

function cookieLine(value: string, maxAge: number, { path, secure }: CookieScope): string {
  const attributes = { path, maxAge, secure, httpOnly: true, sameSite: 'strict' as const };
  return stringifySetCookie({ name: cookieName, value, ...attributes }, { encode: (text) => text });
}
