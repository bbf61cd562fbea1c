/** What the server uses of this package. They are released together: these names change without a major version. */
export { realtimeOptions } from './options.ts';
export { installRealtimeMessages, uninstallRealtimeMessages } from './messages/install-messages.ts';
