import type { IncomingMessage } from 'node:http';
import type { Configuration } from '../config/schema.ts';
import { isProxied } from './local-request.ts';

/** How many origins are reported: any client can send any. */
const maxOrigins = 20;

/**
 * Warns once of each origin whose pages call the server without `cors.origins` listing it: the browser hides the response from the page, and
 * only its console says so. Requests through proxies are left out, as they may have another `Host`.
 */
export function createOriginWatch(
  { cors }: Pick<Configuration, 'cors'>,
  warn: (message: string) => void,
): (request: IncomingMessage) => void {
  const reported = new Set<string>();
  const isListed = (origin: string): boolean => cors.origins.includes('*') || cors.origins.includes(origin);
  return ({ headers }) => {
    const { origin, host = '' } = headers;
    if (origin === undefined || reported.has(origin) || reported.size >= maxOrigins) return;
    const [, own] = /^https?:\/\/([\w.[\]:-]{1,255})$/.exec(origin) ?? [];
    if ((own === undefined && origin !== 'null') || own === host || isListed(origin) || isProxied(headers)) return;
    reported.add(origin);
    warn(
      own === undefined
        ? 'a page that was opened from a file calls this server, and the browser hides the responses from it; serve the page, as with staticFiles.root'
        : `a page of ${origin} calls this server, and the browser hides the responses from it; add the origin to cors.origins`,
    );
  };
}
