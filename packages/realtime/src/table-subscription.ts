import type { ChangeIdentity, ChangeListener, ChangeMessage, ChangeSubscription } from '@pgway/core/internal';
import { maxWaitingCuts } from './limits.ts';
import type { PlannedSubscription } from './plan-subscriptions.ts';
import type { Services } from './services.ts';

export interface TableListener {
  /** A cut with changes, the loss of some, or a truncated table. */
  message(message: ChangeMessage, plan: PlannedSubscription): void;
  ended: ChangeListener['ended'];
}

/**
 * The changes of a table for one identity of a channel. It delivers nothing until it is started, as the other tables of the channel may be
 * refused to the identity.
 */
export class TableSubscription {
  readonly plan: PlannedSubscription;
  readonly #listener: TableListener;
  /** The subscription of the same rows with an earlier identity, which this one continues. */
  readonly #before: TableSubscription | null;
  #subscription: ChangeSubscription | null = null;
  /** Removes it from those of its caller. */
  #release: () => void = () => undefined;
  #isCancelled = false;
  /** Messages after this id wait for a decision; null: none does. */
  #heldAfter: string | null = '';
  #held: ChangeMessage[] = [];
  /** The last id that is delivered; null: all are. */
  #last: string | null = null;

  constructor(plan: PlannedSubscription, listener: TableListener, before: TableSubscription | null) {
    this.plan = plan;
    this.#listener = listener;
    this.#before = before;
  }

  /**
   * Resolves when the subscription is part of a cut.
   * @param caller what the limits of the caller count by
   * @throws Refusal beyond the limit of the caller; what `ChangeFeed.subscribe` throws
   */
  async open(
    { feed, callerSubscriptions }: Pick<Services, 'feed' | 'callerSubscriptions'>,
    identity: ChangeIdentity,
    caller: string,
  ): Promise<void> {
    this.#release = callerSubscriptions.add(caller, this.plan.key);
    try {
      const subscription = await feed().subscribe(
        { ...this.plan.request, identity },
        {
          message: (message) => this.#receive(message),
          ended: (reason) => {
            if (!this.#isCancelled && this.#last === null) this.#listener.ended(reason);
          },
        },
      );
      this.#subscription = subscription;
      if (this.#isCancelled) subscription.cancel();
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Delivers the messages that have waited, and the later ones. */
  start(): void {
    const held = this.#held;
    this.#heldAfter = null;
    this.#held = [];
    for (const message of held) if (!this.#isCancelled) this.#listener.message(message, this.plan);
  }

  /** Delivers no message after the one that the next subscription has begun with. */
  retire(): void {
    if (this.#heldAfter === null) return this.cancel();
    this.#last = this.#heldAfter;
    this.#held = [];
    if (this.#subscription !== null && this.#subscription.lastId >= this.#last) this.cancel();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#held = [];
    this.#release();
    this.#subscription?.cancel();
  }

  #receive(message: ChangeMessage): void {
    if (this.#isCancelled) return;
    // The changes up to this id are those of the identity before.
    if (message.kind === 'begin') return this.#before?.holdAfter(message.id);
    if (this.#last !== null && message.id > this.#last) return this.cancel();
    if (this.#last === null && this.#heldAfter !== null && message.id > this.#heldAfter) return this.#hold(message);
    this.#listener.message(message, this.plan);
  }

  /** Holds the messages after an id back until `start` or `retire`: the next subscription has begun with it. */
  holdAfter(id: string): void {
    this.#heldAfter = id;
  }

  #hold(message: ChangeMessage): void {
    if (this.#held.length < maxWaitingCuts) this.#held.push(message);
    else this.#held.splice(0, this.#held.length, { kind: 'gap', id: message.id, reason: 'too-many-changes' });
  }
}
