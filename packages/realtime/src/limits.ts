/** Limits for the clients of a process. */

/** Bytes of a message of a client: a token, or a join with its bindings. */
export const maxMessageBytes: number = 256 * 1024;
export const maxChannels = 100;
export const maxBindings = 100;
/** Tables that all channels of a connection watch, each binding with `*` counted by the tables that it stands for. */
export const maxSubscriptions = 500;
/** Different tables, filters and columns that all connections of a caller from one network watch. */
export const maxCallerSubscriptions = 2_000;
export const maxFilterLength = 4_096;
export const maxConditions = 100;
/** Messages that wait until an earlier one is answered. Then the socket is not read. */
export const maxWaitingMessages = 32;
/** Cuts with changes that wait for the reply to a join. */
export const maxWaitingCuts = 1_000;
/** Bytes that a client may leave unread before it is disconnected. */
export const maxUnsentBytes: number = 8 * 1024 * 1024;
/**
 * Bytes of the earlier messages of a join and of those that arrived meanwhile, which are written at once: a client that reads stays below
 * `maxUnsentBytes`.
 */
export const maxReplayBytes: number = maxUnsentBytes / 2;
/** Milliseconds between two checks of a connection and of its credentials. */
export const checkIntervalMs = 30_000;
/** Broadcasts, messages of presence, joins and tokens that a connection, or a caller of the HTTP endpoint, may send in a second. */
export const maxMessagesPerSecond = 100;
/** The same of all connections and requests of a caller from one network: the clients of an office may share a key and an address. */
export const maxCallerMessagesPerSecond = 1_000;
/** Messages of one request to the HTTP endpoint. */
export const maxRequestMessages = 100;
/** Clients that are present in a topic. */
export const maxPresences = 1_000;
/** Presences of one caller from one network in a topic. */
export const maxCallerPresences = 100;
/** Bytes of what a client says of itself, as JSON. */
export const maxPresenceBytes: number = 4 * 1024;
/** Milliseconds after which the policies of a private channel are asked again. */
export const policyIntervalMs: number = 5 * 60_000;
/** Earlier messages that a join gets, as in Supabase. */
export const maxReplayedMessages = 25;
/** Bytes of the key of a presence. */
export const maxPresenceKeyBytes = 255;
/** Milliseconds that a join waits until the messages of the database are read. */
export const maxDatabaseWaitMs = 500;
