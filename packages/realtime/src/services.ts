import type { RealtimeAccess } from '@pgway/core/internal';
import type { CallerSubscriptions } from './caller-subscriptions.ts';
import type { DatabaseMessages } from './messages/database-messages.ts';
import type { MessageHistory } from './messages/message-history.ts';
import type { MessageHub } from './messages/message-hub.ts';
import type { MessageRates } from './messages/message-rate.ts';
import type { Policies } from './messages/policies.ts';
import type { PublishedTables } from './published-tables.ts';

/** What all connections share. */
export interface Services extends RealtimeAccess {
  readonly tables: PublishedTables;
  readonly hub: MessageHub;
  readonly databaseMessages: DatabaseMessages;
  readonly policies: Policies;
  readonly history: MessageHistory;
  /** Of all connections and requests of each caller. */
  readonly callerRates: MessageRates;
  readonly callerSubscriptions: CallerSubscriptions;
  readonly allowsPublicChannels: boolean;
  readonly counts: Counts;
}

/** Counts since the start. */
export interface Counts {
  /** Broadcasts and messages of presence that were refused. */
  refusals: number;
  /** Connections that were ended because their clients did not read. */
  slowClients: number;
}
