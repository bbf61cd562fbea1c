import type { ChangeIdentity, ChangeListener, ChangeMessage, ChangeSubscription } from '@pgway/core/internal';
import type { PlannedSubscription } from './plan-subscriptions.ts';
import type { Services } from './services.ts';

export interface TableListener {
  /** A cut with changes, the loss of some, or a truncated table. */
  message(message: ChangeMessage, plan: PlannedSubscription): void;
  ended: ChangeListener['ended'];
}

/** The changes of a table for one identity of a channel. */
export class TableSubscription {
  readonly plan: PlannedSubscription;
  readonly #listener: TableListener;
  /** The subscription of the same rows with an earlier identity, which this one continues. */
  readonly #before: TableSubscription | null;
  #subscription: ChangeSubscription | null = null;
  #isCancelled = false;
  /** The last id that is delivered; null: all are. */
  #last: string | null = null;

  constructor(plan: PlannedSubscription, listener: TableListener, before: TableSubscription | null) {
    this.plan = plan;
    this.#listener = listener;
    this.#before = before;
  }

  /** Resolves when the subscription is part of a cut. Throws what `ChangeFeed.subscribe` throws. */
  async open(feed: Services['feed'], identity: ChangeIdentity): Promise<void> {
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
  }

  #receive(message: ChangeMessage): void {
    if (this.#isCancelled) return;
    // The changes up to this id are those of the identity before.
    if (message.kind === 'begin') return this.#before?.endAfter(message.id);
    if (this.#last !== null && message.id > this.#last) return this.cancel();
    this.#listener.message(message, this.plan);
  }

  /** Delivers the changes up to an id, and no later ones. */
  endAfter(id: string): void {
    this.#last = id;
    if (this.#subscription !== null && this.#subscription.lastId >= id) this.cancel();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#subscription?.cancel();
  }
}
