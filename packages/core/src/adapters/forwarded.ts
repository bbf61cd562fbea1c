import { BlockList, isIP, SocketAddress } from 'node:net';
import type { GatewayRequest } from '../http/request.ts';

/** Where a request comes from: behind proxies, what the trusted ones say of it. */
export interface ClientOrigin {
  /** In canonical form, IPv4 also where it came as IPv6; null: the host, or a trusted proxy, does not know it. */
  readonly address: string | null;
  /** Whether the client's own connection is encrypted. */
  readonly secure: boolean;
}

export type OriginReader = (request: GatewayRequest) => ClientOrigin;

/**
 * Which headers the trusted proxies write. They must be the ones: what a proxy does not write itself it passes on from the client.
 *
 * - `x-forwarded`: `X-Forwarded-For` and `X-Forwarded-Proto`; `Forwarded` counts where neither is there.
 * - `forwarded`: `Forwarded` (RFC 7239) alone.
 */
export type ForwardedHeaders = 'x-forwarded' | 'forwarded';

/** One station on the way, as the next one has named it. */
interface Hop {
  /** Null: named by something that is no address. */
  readonly address: string | null;
  /** Whether the connection from it was encrypted; null: not said. */
  readonly secure: boolean | null;
}

interface ForwardedPath {
  /** The client's end first. */
  readonly hops: readonly Hop[];
  /** What is said of the scheme for the way as a whole; null: nothing. */
  readonly secure: boolean | null;
}

/**
 * Reads the address and the scheme of a client. Headers count only where the peer of the connection is a trusted proxy; the
 * stations are then walked from the last one to the first that is not trusted. `X-Forwarded-Host` is read by nobody.
 *
 * @param trusted addresses, CIDR blocks (`10.0.0.0/8`, `fd00::/8`) and `loopback`
 * @throws TypeError for anything else in it
 */
export function createOriginReader(
  trusted: readonly string[],
  headers: ForwardedHeaders = 'x-forwarded',
): OriginReader {
  const isTrusted = trust(trusted);
  return (request) => {
    const peer = canonicalAddress(request.remoteAddress);
    if (peer === null || trusted.length === 0 || !isTrusted(peer)) return { address: peer, secure: request.secure };
    const way = wayOf(request, headers);
    let client: Hop = { address: peer, secure: null };
    for (let index = way.hops.length - 1; index >= 0; index -= 1) {
      client = way.hops[index]!;
      if (client.address === null || !isTrusted(client.address)) break;
    }
    return { address: client.address, secure: client.secure ?? way.secure ?? request.secure };
  };
}

/** The address as everybody writes it; null where it is none. */
export function canonicalAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  const version = isIP(address);
  if (version === 4) return address;
  if (version === 0) return null;
  const text = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = text.startsWith('::ffff:') ? text.slice(7) : '';
  return isIP(mapped) === 4 ? mapped : text;
}

function trust(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) addTo(list, entry);
  return (address) => list.check(address, familyOf(address));
}

function addTo(list: BlockList, entry: string): void {
  if (entry === 'loopback') {
    list.addSubnet('127.0.0.0', 8, 'ipv4');
    list.addAddress('::1', 'ipv6');
    return;
  }
  const [, text = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const address = canonicalAddress(text);
  if (address === null) throw notTrustable(entry);
  if (length === undefined) return list.addAddress(address, familyOf(address));
  // A block of mapped addresses is one of IPv4.
  const bits = Number(length) - (familyOf(address) === 'ipv4' && text.includes(':') ? 96 : 0);
  if (bits < 0 || bits > (familyOf(address) === 'ipv4' ? 32 : 128)) throw notTrustable(entry);
  list.addSubnet(address, bits, familyOf(address));
}

function notTrustable(entry: string): TypeError {
  return new TypeError(
    `"${entry}" is no trusted proxy: give an address (10.0.0.7), a block (10.0.0.0/8, fd00::/8) or loopback.`,
  );
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function wayOf(request: GatewayRequest, headers: ForwardedHeaders): ForwardedPath {
  if (headers === 'x-forwarded') {
    const addresses = request.header('x-forwarded-for');
    const schemes = request.header('x-forwarded-proto');
    if (addresses !== undefined || schemes !== undefined) return xForwarded(addresses, schemes);
  }
  return { hops: elements(request.header('forwarded')).map(hopOf), secure: null };
}

/**
 * The two lists belong together where they are of one length. Where they are not, the last scheme is the one that the proxy
 * which we trust has written.
 */
function xForwarded(addresses: string | undefined, schemes: string | undefined): ForwardedPath {
  const secure = schemes?.split(',').map(isSecure) ?? [];
  const texts = addresses?.split(',') ?? [];
  const paired = secure.length === texts.length;
  const hops = texts.map((text, index) => ({
    address: addressOf(text.trim()),
    secure: paired ? secure[index]! : null,
  }));
  return { hops, secure: secure.at(-1) ?? null };
}

function isSecure(scheme: string): boolean {
  return scheme.trim().toLowerCase() === 'https';
}

/** `1.2.3.4`, `1.2.3.4:5678`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:5678` */
function addressOf(text: string): string | null {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return canonicalAddress(inBrackets ?? beforePort ?? text);
}

/**
 * What stands between the commas of a `Forwarded` header, where a quoted string may hold commas of its own; after a quotation
 * mark that is never closed every comma counts. Looks at each character once: clients write such headers too.
 */
function elements(header = ''): readonly string[] {
  const found: string[] = [];
  let start = 0;
  for (let index = 0; index < header.length; index += 1) {
    if (header[index] === ',') {
      found.push(header.slice(start, index));
      start = index + 1;
    } else if (header[index] === '"') {
      index = closing(header, index);
      if (index === -1) return [...found, ...header.slice(start).split(',')];
    }
  }
  return header === '' ? [] : [...found, header.slice(start)];
}

/** Where the quoted string ends that begins here; -1: nowhere. */
function closing(header: string, start: number): number {
  for (let index = start + 1; index < header.length; index += 1) {
    if (header[index] === '"') return index;
    if (header[index] === '\\') index += 1;
  }
  return -1;
}

const token = "[!#$%&'*+.^_`|~\\w-]+";
const pair = `(${token})=(${token}|"(?:[^"\\\\]|\\\\.)*")`;
const wellFormed = new RegExp(`^\\s*${pair}(?:\\s*;\\s*${pair})*\\s*$`);
const eachPair = new RegExp(pair, 'g');

/**
 * The `for` and `proto` of one element. Nothing is known from one that is not well formed: a quotation mark that a client left
 * open may have swallowed what a proxy has added.
 */
function hopOf(element: string): Hop {
  if (!wellFormed.test(element)) return { address: null, secure: null };
  const pairs = [...element.matchAll(eachPair)];
  const valuesOf = (name: string): readonly string[] =>
    pairs.filter(([, key]) => key!.toLowerCase() === name).map(([, , value]) => unquoted(value!));
  const addresses = valuesOf('for');
  const schemes = valuesOf('proto');
  return {
    address: addresses.length === 1 ? addressOf(addresses[0]!) : null,
    secure: schemes.length === 0 ? null : schemes.every(isSecure),
  };
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}
