/** The network that a client's address counts as: an IPv4 address itself, of IPv6 the /64, whose 2⁶⁴ addresses one client may use. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail = ''] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  // What `::` stands for; an IPv4 address at the end is two groups, beyond the network in any case.
  const left = Math.max(0, 8 - before.length - after.length - (address.includes('.') ? 1 : 0));
  const groups = [...before, ...Array.from({ length: address.includes('::') ? left : 0 }, () => '0'), ...after];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
