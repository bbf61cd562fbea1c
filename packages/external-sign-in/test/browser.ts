/** A response as a browser gets it. */
export interface PageResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

interface VisitOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether redirects are followed. Default true. */
  readonly follow?: boolean;
}

const maxRedirects = 20;

/** Keeps the cookies of each host, and follows redirects. Cookies have no paths here, except those of a provider's interactions. */
export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The cookies of a host, by name. */
  cookies(origin: string): ReadonlyMap<string, string> {
    return this.#cookies.get(new URL(origin).host) ?? new Map();
  }

  copyCookies(from: TestBrowser): void {
    for (const [host, cookies] of from.#cookies) this.#cookies.set(host, new Map(cookies));
  }

  /** Takes the cookies of a response. */
  setCookies(url: string, headers: Headers): void {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '' || /max-age=0/i.test(line)) jar.delete(name!);
      else jar.set(name!, value!);
    }
  }

  /** Requests a page of this site: the first request has `Sec-Fetch-Site: same-origin`. */
  async visit(url: string, { method = 'GET', headers = {}, follow = true }: VisitOptions = {}): Promise<PageResponse> {
    let response = await this.#send(url, method, { 'sec-fetch-site': 'same-origin', ...headers });
    for (let count = 0; follow && count < maxRedirects; count += 1) {
      const next = nextLocation(response);
      if (next === null) break;
      // Each redirect depends on the one before.
      response = await this.#send(next, 'GET', { 'sec-fetch-site': 'cross-site' });
    }
    return response;
  }

  async #send(url: string, method: string, headers: Readonly<Record<string, string>>): Promise<PageResponse> {
    const { host } = new URL(url);
    const cookie = [...(this.#cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers },
    });
    this.setCookies(url, response.headers);
    return { url, status: response.status, headers: response.headers, body: await response.text() };
  }
}

/** Returns the location of a redirect, or of a page that continues at this site; null for other responses. */
function nextLocation({ status, headers, body, url }: PageResponse): string | null {
  if (status >= 300 && status < 400) return new URL(headers.get('location')!, url).href;
  const path = /<meta http-equiv="refresh" content="0;url=(\/[^"]*)">/.exec(body)?.[1];
  return path === undefined ? null : new URL(path, url).href;
}
