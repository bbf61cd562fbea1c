/** The credentials that the page adds to requests. Tokens and passwords stay in memory, and end with the page. */
import type { PageData, PageOperation } from './page-data.ts';
import type { ReceivedResponse } from './send.ts';

export class Session {
  readonly #data: PageData;
  readonly #listeners: (() => void)[] = [];
  #token: string | null = null;
  #basic: string | null = null;
  #antiforgeryToken: string | null = null;
  #hasCookie = false;

  constructor(data: PageData) {
    this.#data = data;
    if (!data.authentication.cookie) return;
    void this.#askForCookie();
    // Another page may have signed in or out.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') void this.#askForCookie();
    });
  }

  /** The kind of credentials that requests carry; null for none that the page knows. */
  get state(): 'token' | 'cookie' | 'basic' | null {
    if (this.#token !== null) return 'token';
    if (this.#hasCookie) return 'cookie';
    return this.#basic === null ? null : 'basic';
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  useToken(token: string): void {
    this.#token = token;
    this.#changed();
  }

  useBasic(user: string, password: string): void {
    const bytes = new TextEncoder().encode(`${user}:${password}`);
    this.#basic = btoa(String.fromCharCode(...bytes));
    this.#changed();
  }

  /** Forgets token and password. A cookie stays: only the server can delete it. */
  forget(): void {
    this.#token = null;
    this.#basic = null;
    this.#changed();
  }

  /** Ends the session of the sign-in page, and continues at its provider where that has a session too. Returns whether it has ended. */
  async endCookie(path: string): Promise<boolean> {
    const headers = [...(await this.antiforgery())].map(([name, value]): [string, string] => [name, value]);
    const response = await fetch(path, { method: 'POST', headers, redirect: 'manual' });
    const isEnded = response.ok || response.type === 'opaqueredirect';
    if (isEnded) this.#ended();
    if (response.ok) await continueAtProvider(response);
    return isEnded;
  }

  /** Returns `Authorization`, or nothing. A login must not fail because of an expired token. */
  authorization({ access, loginOrLogout }: PageOperation): readonly [string, string][] {
    if (loginOrLogout === 'login') return [];
    if (access.basic && this.#basic !== null) return [['Authorization', `Basic ${this.#basic}`]];
    return this.#token === null ? [] : [['Authorization', `Bearer ${this.#token}`]];
  }

  /** Returns the antiforgery header for a caller with a cookie. */
  async antiforgery(): Promise<readonly [string, string][]> {
    const { antiforgeryPath } = this.#data.authentication;
    if (this.state !== 'cookie' || antiforgeryPath === null) return [];
    if (this.#antiforgeryToken === null) {
      const response = await fetch(antiforgeryPath, { cache: 'no-store' });
      if (!response.ok) return [];
      this.#antiforgeryToken = ((await response.json()) as { readonly token: string }).token;
    }
    return [['X-XSRF-TOKEN', this.#antiforgeryToken]];
  }

  /** Reads the result of a login or logout, and notices when credentials have expired. */
  received({ loginOrLogout, access }: PageOperation, { status, headers, bytes }: ReceivedResponse): void {
    if (loginOrLogout === 'login' && status === 200) {
      const token = accessToken(headers, bytes);
      this.#token = token;
      if (token === null && this.#data.authentication.cookie) this.#hasCookie = true;
      this.#changed();
    }
    const isExpired = status === 401 && loginOrLogout === null && !access.basic && this.state !== 'basic';
    const isSignedOut = loginOrLogout === 'logout' && status < 300;
    if (this.state !== null && (isSignedOut || isExpired)) this.#ended();
  }

  /** Asks the server whether the browser has the cookie of a session, which scripts cannot read. */
  async #askForCookie(): Promise<void> {
    const before = this.#hasCookie;
    try {
      const response = await fetch(new URL('/_pgway/caller.json', location.origin), { cache: 'no-store' });
      if (!response.ok) return;
      const { signedIn } = (await response.json()) as { readonly signedIn: boolean };
      // A login or logout in the meantime is newer.
      if (this.#hasCookie !== before || signedIn === before) return;
      this.#hasCookie = signedIn;
      this.#changed();
    } catch {
      // Without an answer, the page keeps what it knows.
    }
  }

  #ended(): void {
    this.#hasCookie = false;
    this.forget();
  }

  #changed(): void {
    this.#antiforgeryToken = null;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the token in the response of a token scheme; null for other responses. */
function accessToken(headers: ReceivedResponse['headers'], bytes: Uint8Array): string | null {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (!type.startsWith('application/json')) return null;
  try {
    const { access_token: token } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly access_token?: unknown };
    return typeof token === 'string' ? token : null;
  } catch {
    return null;
  }
}

/** The body of a sign-out names the page to continue at: one of this server, or the sign-out of the provider. */
async function continueAtProvider(response: Response): Promise<void> {
  const { location: next } = (await response.json().catch(() => ({}))) as { readonly location?: unknown };
  if (typeof next !== 'string') return;
  const url = new URL(next, location.origin);
  if (url.origin !== location.origin && /^https?:$/.test(url.protocol)) location.assign(url);
}
