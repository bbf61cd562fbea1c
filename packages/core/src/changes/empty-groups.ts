import type { ChangeGroup } from './change-group.ts';

/** Groups without subscribers that are kept for those that come back. */
const maxEmptyGroups = 200;

/**
 * Ends groups some time after their last subscriber has left.
 * @param oldest the time, by `performance.now()`, before which the subscribers have left
 * @param isJoining whether a subscriber waits to join the group
 */
export function removeEmptyGroups(
  groups: Map<string, ChangeGroup>,
  oldest: number,
  isJoining: (group: ChangeGroup) => boolean,
): void {
  const empty = [...groups.values()].filter(
    (group) => group.emptySince !== null && group.members.size === 0 && !group.isBusy && !isJoining(group),
  );
  for (const group of selectExpired(empty, { maxGroups: maxEmptyGroups, oldest })) {
    group.end('closing');
    groups.delete(group.key);
  }
}

/**
 * Returns the groups without subscribers that are not kept: those that are too old, and surplus ones. Surplus groups are the oldest ones of
 * identities with the most groups, so that a client with many different subscriptions costs itself the way back, and no other client.
 * @param groups in the order of their creation
 */
export function selectExpired(
  groups: readonly ChangeGroup[],
  { maxGroups, oldest }: { readonly maxGroups: number; readonly oldest: number },
): readonly ChangeGroup[] {
  const expired = groups.filter(({ emptySince }) => emptySince! < oldest);
  let surplus = groups.length - expired.length - maxGroups;
  if (surplus <= 0) return expired;
  const byIdentity = new Map<string, ChangeGroup[]>();
  for (const group of groups) {
    if (group.emptySince! < oldest) continue;
    const { role, key } = group.request.identity;
    const identity = JSON.stringify([role ?? null, key]);
    const own = byIdentity.get(identity);
    if (own === undefined) byIdentity.set(identity, [group]);
    else own.push(group);
  }
  for (; surplus > 0; surplus--) {
    const largest = [...byIdentity.values()].reduce((most, own) => (own.length > most.length ? own : most));
    expired.push(largest.shift()!);
  }
  return expired;
}
