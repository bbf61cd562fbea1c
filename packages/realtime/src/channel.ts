import { type Endpoint, Problem } from '@pgway/core';
import { type RealtimeCaller, type ChangeMessage, DatabaseError, type RowChange } from '@pgway/core/internal';
import type { JoinRequest } from './bindings.ts';
import { eventOf, toChangeData } from './change-payload.ts';
import { maxSubscriptions, maxWaitingCuts } from './limits.ts';
import { ChannelMessages, type MessageConnection } from './messages/channel-messages.ts';
import { topicPrefix } from './messages/topic.ts';
import { type NumberedBinding, planSubscriptions, type PlannedSubscription } from './plan-subscriptions.ts';
import { toReason } from './refusal.ts';
import type { Services } from './services.ts';
import { TableSubscription } from './table-subscription.ts';

/** The connection of a channel. */
export interface ChannelConnection extends MessageConnection {
  readonly services: Services;
  /** @throws Problem 401, 403, 503 */
  identify(token: string | null): Promise<RealtimeCaller>;
  /** Sends a message of the channel, whose payload is JSON. */
  send(channel: Channel, event: string, payload: string): void;
  /** The channel has ended, and has told its client. */
  ended(channel: Channel): void;
  /** Subscriptions of the other channels. */
  subscriptionsBeside(channel: Channel): number;
}

export interface ChannelFacts {
  readonly topic: string;
  readonly joinRef: string | null;
  readonly bindings: readonly NumberedBinding[];
}

/** A joined topic with its messages and the changes that its bindings ask for. */
export class Channel {
  readonly topic: string;
  readonly joinRef: string | null;
  readonly messages: ChannelMessages;
  readonly #bindings: readonly NumberedBinding[];
  readonly #connection: ChannelConnection;
  /** The token of the subscriptions. */
  #token: string | null;
  /** The token of the latest message, which the next check tries again if the server could not use it. */
  #newestToken: string | null;
  #identityKey: string | null = null;
  /** The endpoints that the subscriptions were allowed by. */
  #endpoints: readonly Endpoint[] | null = null;
  #subscriptions: readonly TableSubscription[] = [];
  /** Those of earlier identities that may have changes to deliver. */
  #retired: readonly TableSubscription[] = [];
  #isClosed = false;
  /** The client knows the numbers of its bindings after the reply to its join. Null: it has it. */
  #waiting: (() => void)[] | null = [];

  constructor(
    { topic, joinRef, bindings }: ChannelFacts,
    { token, messages }: Pick<JoinRequest, 'token' | 'messages'>,
    connection: ChannelConnection,
  ) {
    this.topic = topic;
    this.joinRef = joinRef;
    this.#bindings = bindings;
    this.#token = token;
    this.#newestToken = token;
    this.#connection = connection;
    const name = topic.slice(topicPrefix.length);
    this.messages = new ChannelMessages({ name, isPrivate: messages.isPrivate }, messages, connection, (message) =>
      this.#sendSystem('error', message, 'system'),
    );
  }

  get subscriptionCount(): number {
    return this.#subscriptions.length;
  }

  /** @throws Problem, Refusal, ReadFault, DatabaseError: `toReason` returns the text for the client */
  async join(): Promise<void> {
    try {
      await this.#use(this.#token);
    } catch (error) {
      this.cancel();
      throw error;
    }
  }

  /** Sends what has come before the reply to the join. */
  joined(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.messages.joined();
    if (this.#bindings.length > 0) this.#sendSystem('ok', 'Subscribed to PostgreSQL');
    for (const send of waiting) send();
  }

  /** Leaves another token to the next check. */
  postponeToken(token: string): void {
    this.#newestToken = token;
  }

  /** Continues with another token, or ends for one that is refused. */
  async setToken(token: string | null): Promise<void> {
    this.#newestToken = token;
    try {
      await this.#use(token);
      this.#token = token;
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Ends when the token has expired or its session has ended, and when an endpoint that allowed a table is gone. Continues with the rows of
   * the identity that its caller has now.
   */
  async check(): Promise<void> {
    for (const subscription of this.#retired) subscription.cancel();
    this.#retired = [];
    await this.setToken(this.#newestToken);
    if (this.#isClosed || this.#newestToken === this.#token) return;
    // The subscriptions are still those of the token before, which they must not outlast.
    try {
      const { identity } = await this.#connection.identify(this.#token);
      if (identity.key !== this.#identityKey) this.#end('The credentials have changed');
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Ends when the token of the subscriptions is refused, and takes permissions away that are too old. With another identity, the check continues unless it is overdue.
   * @param identify as that of the connection
   */
  async checkToken(identify: ChannelConnection['identify'], isOverdue: boolean): Promise<void> {
    // A join identifies its caller itself, and its reply tells the client.
    if (this.#waiting !== null) return;
    this.messages.expire();
    const before = this.#token;
    try {
      const { identity } = await identify(before);
      if (isOverdue && before === this.#token && identity.key !== this.#identityKey)
        this.#end('The credentials have changed');
    } catch (error) {
      // The works may have continued with another token.
      if (before === this.#token && error instanceof Problem && error.status < 500) this.#fail(error);
    }
  }

  /** Ends, unless the credentials could not be checked now: the next check is the answer. */
  #fail(error: unknown): void {
    const reason = toReason(error, this.#connection.services);
    if (this.#isClosed) return;
    if (!(error instanceof Problem) || error.status < 500) return this.#end(reason);
    this.messages.expire();
    this.#sendSystem('error', reason);
  }

  /** Ends the subscriptions, and tells the client nothing. */
  cancel(): void {
    this.#isClosed = true;
    this.messages.leave();
    for (const subscription of [...this.#subscriptions, ...this.#retired]) subscription.cancel();
    this.#subscriptions = [];
    this.#retired = [];
  }

  async #use(token: string | null): Promise<void> {
    const { services } = this.#connection;
    const caller = await this.#connection.identify(token);
    await this.messages.authorize(caller.identity, token, this.#bindings.length > 0);
    if (!this.#isClosed) await this.messages.readEarlier(caller.identity);
    const endpoints = services.endpoints();
    const isSameCaller = caller.identity.key === this.#identityKey;
    if (this.#isClosed || (isSameCaller && endpoints === this.#endpoints)) return;
    const plans =
      this.#bindings.length === 0
        ? []
        : planSubscriptions(
            this.#bindings,
            { caller, tables: await services.tables.list(), endpoints },
            maxSubscriptions - this.#connection.subscriptionsBeside(this),
          );
    const before = new Map(this.#subscriptions.map((each) => [each.plan.key, each]));
    const isKept = (plan: PlannedSubscription): boolean => isSameCaller && isSameRequest(before.get(plan.key), plan);
    const opened = await this.#openAll(
      plans.filter((plan) => !isKept(plan)),
      caller,
      before,
    );
    if (this.#isClosed) return opened.forEach((subscription) => subscription.cancel());
    this.#identityKey = caller.identity.key;
    this.#endpoints = endpoints;
    const kept = plans.filter(isKept).map(({ key }) => before.get(key)!);
    const ended = this.#subscriptions.filter((each) => !kept.includes(each));
    for (const each of ended) each.retire();
    this.#retired = [...this.#retired, ...ended];
    this.#subscriptions = [...kept, ...opened];
    for (const each of opened) each.start();
  }

  /** Opens all subscriptions, or none: then the ones before continue. */
  async #openAll(
    plans: readonly PlannedSubscription[],
    caller: RealtimeCaller,
    before: ReadonlyMap<string, TableSubscription>,
  ): Promise<readonly TableSubscription[]> {
    const opening = plans.map((plan) => this.#open(plan, caller, before.get(plan.key) ?? null));
    const results = await Promise.allSettled(opening);
    const opened = results.flatMap((result) =>
      result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return opened;
    for (const subscription of opened) subscription.cancel();
    for (const subscription of before.values()) subscription.start();
    throw failed.reason;
  }

  /** Returns null for a table of `*` that PostgreSQL refuses to the caller. */
  async #open(
    plan: PlannedSubscription,
    { identity }: RealtimeCaller,
    before: TableSubscription | null,
  ): Promise<TableSubscription | null> {
    const { services } = this.#connection;
    const listener = {
      message: (message: ChangeMessage, planned: PlannedSubscription) => this.#deliver(message, planned),
      ended: (reason: string) => this.#subscriptionEnded(reason, plan),
    };
    const subscription = new TableSubscription(plan, listener, before);
    try {
      await subscription.open(services, identity, this.#connection.callerKey(identity));
      return subscription;
    } catch (error) {
      if (error instanceof DatabaseError) services.tables.forget();
      if (!plan.isNamed && error instanceof DatabaseError && error.diagnostics.code === insufficientPrivilege)
        return null;
      throw error;
    }
  }

  get #extension(): string {
    return this.#bindings.length > 0 ? 'postgres_changes' : 'system';
  }

  #deliver(message: ChangeMessage, plan: PlannedSubscription): void {
    if (this.#waiting !== null) return this.#keep(() => this.#deliver(message, plan));
    const { schema, name } = plan.table;
    if (message.kind === 'gap')
      this.#sendSystem('error', `Changes of ${schema}.${name} may be missing (${message.reason}); read the rows again`);
    if (message.kind === 'changes') for (const change of message.changes) this.#deliverChange(change, plan);
  }

  /** Keeps what has come before the reply to the join. */
  #keep(send: () => void): void {
    const waiting = this.#waiting!;
    if (waiting.length < maxWaitingCuts) waiting.push(send);
    else if (waiting.length === maxWaitingCuts)
      waiting.push(() => this.#sendSystem('error', 'Changes may be missing; read the rows again'));
  }

  #deliverChange(change: RowChange, plan: PlannedSubscription): void {
    const { operation } = change;
    if (operation === 'truncate') {
      const { schema, name } = plan.table;
      this.#sendSystem('error', `${schema}.${name} was truncated; read the rows again`);
      return;
    }
    const event = eventOf[operation];
    const ids = plan.ids[event];
    if (ids.length === 0) return;
    const data = toChangeData(change, event, plan);
    this.#connection.send(this, 'postgres_changes', `{"ids":[${ids.join(',')}],"data":${data}}`);
  }

  #subscriptionEnded(reason: string, { table }: PlannedSubscription): void {
    if (this.#isClosed) return;
    if (reason === 'forbidden') return this.#end(`You may not read ${table.schema}.${table.name} any more`);
    // The client joins again.
    this.#connection.services.tables.forget();
    this.cancel();
    this.#connection.send(this, 'phx_error', '{}');
    this.#connection.ended(this);
  }

  #end(message: string): void {
    if (this.#isClosed) return;
    this.#sendSystem('error', message);
    this.cancel();
    this.#connection.send(this, 'phx_close', '{}');
    this.#connection.ended(this);
  }

  #sendSystem(status: 'ok' | 'error', message: string, extension = this.#extension): void {
    const channel = this.topic.slice(topicPrefix.length);
    const payload = { extension, status, message, channel };
    this.#connection.send(this, 'system', JSON.stringify(payload));
  }
}

function isSameRequest(subscription: TableSubscription | undefined, { request }: PlannedSubscription): boolean {
  return subscription !== undefined && JSON.stringify(subscription.plan.request) === JSON.stringify(request);
}

const insufficientPrivilege = '42501';
