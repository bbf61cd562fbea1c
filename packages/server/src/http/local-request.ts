import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress } from '../address.ts';
import { hasLoopbackHost } from './host-check.ts';

/** Headers that proxies add. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Whether a program on this machine sent the request, as far as that can be known: a proxy that adds no header looks the same. A page of
 * another site can reach a loopback address (DNS rebinding), but not with a loopback name in `Host`.
 */
export function isLocalRequest({ headers, socket }: IncomingMessage): boolean {
  return isLoopbackAddress(socket.remoteAddress ?? '') && hasLoopbackHost(headers.host ?? '') && !isProxied(headers);
}

/** Whether a proxy that says so has forwarded the request. */
export function isProxied(headers: IncomingMessage['headers']): boolean {
  return proxyHeaders.some((name) => headers[name] !== undefined);
}
