import { maxCallerPresences } from '../limits.ts';
import { Refusal } from '../refusal.ts';

/** Counts the presences of this process by their owner: a caller in a topic. */
export class PresenceOwners {
  readonly #owners = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /**
   * @param before the reference of an earlier presence of the same client; null: it has none
   * @throws Refusal for an owner with too many
   */
  replace(before: string | null, ref: string, owner: string): void {
    const isOwn = before !== null && this.#owners.get(before) === owner;
    if (!isOwn && (this.#counts.get(owner) ?? 0) >= maxCallerPresences)
      throw new Refusal(
        `You are present in the channel ${maxCallerPresences} times, which is the maximum; untrack a presence first`,
      );
    if (before !== null) this.remove(before);
    this.#owners.set(ref, owner);
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
  }

  remove(ref: string): void {
    const owner = this.#owners.get(ref);
    if (owner === undefined) return;
    this.#owners.delete(ref);
    const left = this.#counts.get(owner)! - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }
}
