import { BlockList, isIP, SocketAddress } from 'node:net';
import type { GatewayRequest } from '../http/request.ts';

/** The client of a request; behind trusted proxies, as they report it. */
export interface ClientOrigin {
  /** In canonical form, IPv4-mapped IPv6 as IPv4; null: unknown to the host or to a trusted proxy. */
  readonly address: string | null;
  /** Whether the client's own connection is encrypted. */
  readonly secure: boolean;
}

export type OriginReader = (request: GatewayRequest) => ClientOrigin;

/**
 * The headers that the trusted proxies set. Every trusted proxy must set them: otherwise it forwards the client's own headers.
 *
 * - `x-forwarded`: `X-Forwarded-For` and `X-Forwarded-Proto`; `Forwarded` when both are missing.
 * - `forwarded`: `Forwarded` (RFC 7239) alone.
 */
export type ForwardedHeaders = 'x-forwarded' | 'forwarded';

/** A client or proxy, as the next proxy reports it. */
interface Hop {
  /** Null: reported by something other than an address. */
  readonly address: string | null;
  /** Whether the connection from it was encrypted; null: not reported. */
  readonly secure: boolean | null;
}

interface ForwardedPath {
  /** The client's end first. */
  readonly hops: readonly Hop[];
  /** Whether the client's connection was encrypted, where the hops do not say it; null: not reported. */
  readonly secure: boolean | null;
}

/**
 * Returns a function that reads address and scheme of a client. Headers count only when the peer of the connection is a trusted proxy.
 * The client is then the last hop that is not trusted. `proxy-addr` does not fit: it reads neither `Forwarded`, nor the scheme, nor
 * ports behind addresses.
 *
 * @param trusted addresses, CIDR blocks (`10.0.0.0/8`, `fd00::/8`) and `loopback`
 * @throws TypeError for another entry
 */
export function createOriginReader(
  trusted: readonly string[],
  headers: ForwardedHeaders = 'x-forwarded',
): OriginReader {
  const isTrusted = trustedAddresses(trusted);
  return (request) => {
    const peer = canonicalAddress(request.remoteAddress);
    if (peer === null || trusted.length === 0 || !isTrusted(peer)) return { address: peer, secure: request.secure };
    const path = readPath(request, headers);
    let client: Hop = { address: peer, secure: null };
    for (let index = path.hops.length - 1; index >= 0; index -= 1) {
      client = path.hops[index]!;
      if (client.address === null || !isTrusted(client.address)) break;
    }
    return { address: client.address, secure: client.secure ?? path.secure ?? request.secure };
  };
}

/** Returns the canonical form of an address; null for an invalid one. */
export function canonicalAddress(address: string | undefined): string | null {
  if (address === undefined) return null;
  const version = isIP(address);
  if (version === 4) return address;
  if (version === 0) return null;
  const text = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = text.startsWith('::ffff:') ? text.slice(7) : '';
  return isIP(mapped) === 4 ? mapped : text;
}

/**
 * Returns a function that tests whether an address is one of the entries: addresses, CIDR blocks and `loopback`.
 * @throws TypeError for another entry
 */
export function trustedAddresses(entries: readonly string[]): (address: string) => boolean {
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
  if (address === null) throw invalidProxy(entry);
  if (length === undefined) return list.addAddress(address, familyOf(address));
  // A block of IPv4-mapped addresses is an IPv4 block.
  const bits = Number(length) - (familyOf(address) === 'ipv4' && text.includes(':') ? 96 : 0);
  if (bits < 0 || bits > (familyOf(address) === 'ipv4' ? 32 : 128)) throw invalidProxy(entry);
  list.addSubnet(address, bits, familyOf(address));
}

function invalidProxy(entry: string): TypeError {
  return new TypeError(
    `"${entry}" is not an address; give an address (10.0.0.7), a CIDR block (10.0.0.0/8, fd00::/8) or loopback`,
  );
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function readPath(request: GatewayRequest, headers: ForwardedHeaders): ForwardedPath {
  if (headers === 'x-forwarded') {
    const addresses = request.header('x-forwarded-for');
    const schemes = request.header('x-forwarded-proto');
    if (addresses !== undefined || schemes !== undefined) return xForwarded(addresses, schemes);
  }
  return { hops: elements(request.header('forwarded')).map(hopOf), secure: null };
}

/**
 * Pairs addresses and schemes when there are equally many. Otherwise the last scheme counts, which the trusted proxy has set.
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
 * Returns the elements of a `Forwarded` header. Quoted strings may contain commas; after an unclosed quotation mark every comma
 * separates. Linear, because clients can send the header too.
 */
function elements(header = ''): readonly string[] {
  const found: string[] = [];
  let start = 0;
  for (let index = 0; index < header.length; index += 1) {
    if (header[index] === ',') {
      found.push(header.slice(start, index));
      start = index + 1;
    } else if (header[index] === '"') {
      index = closingQuote(header, index);
      if (index === -1) return [...found, ...header.slice(start).split(',')];
    }
  }
  return header === '' ? [] : [...found, header.slice(start)];
}

/** Returns the index of the closing quotation mark; -1 when there is none. */
function closingQuote(header: string, start: number): number {
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
 * Reads `for` and `proto` of an element. A malformed element is unknown: an unclosed quotation mark of the client may have swallowed
 * the element of a proxy.
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
