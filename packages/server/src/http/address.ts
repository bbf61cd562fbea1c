/** Loopback addresses, and the names that browsers and resolvers keep for them (RFC 6761, 6.3). */
import { BlockList, isIP } from 'node:net';

const addresses = new BlockList();
addresses.addSubnet('127.0.0.0', 8, 'ipv4');
addresses.addAddress('::1', 'ipv6');

/** Whether the IP address can be reached from its own machine alone; IPv4 also where it is written as IPv6 (`::ffff:127.0.0.1`). */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && addresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

/** @param name in lower case, IPv6 in brackets */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name.replace(/^\[(.*)\]$/, '$1'));
}
