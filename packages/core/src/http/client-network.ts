/**
 * Returns the network that rate limits count as one client: an IPv4 address itself, and the /64 of an IPv6 address, because one client
 * can use all of its 2⁶⁴ addresses.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [first = '', last = ''] = address.split('::');
  const before = first === '' ? [] : first.split(':');
  const after = last === '' ? [] : last.split(':');
  // The number of groups that `::` stands for. A trailing IPv4 address counts as two; it is beyond the /64.
  const omitted = Math.max(0, 8 - before.length - after.length - (address.includes('.') ? 1 : 0));
  const groups = [...before, ...Array.from({ length: address.includes('::') ? omitted : 0 }, () => '0'), ...after];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
