/** Loopback addresses and names (RFC 6761, section 6.3), and the URL of a listening address. */
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether the IP address is a loopback address; IPv4-mapped IPv6 (`::ffff:127.0.0.1`) counts. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

/** @param host a name in lower case or an address; IPv6 with or without brackets */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** Whether the host is an IP address that other machines may reach. A name may resolve to a loopback address. */
export function isPublicAddress(host: string): boolean {
  return isIP(host) !== 0 && !isLoopbackAddress(host);
}

/** Returns a URL that a browser on this machine can open. */
export function serverUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  if (host === '0.0.0.0' || host === '::' || host === '') return `${scheme}://localhost:${port}`;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
