export { installRealtimeMessages, uninstallRealtimeMessages } from './messages/install-messages.ts';
export type { RealtimeOptions } from './options.ts';
export { realtime, type Realtime, type RealtimeStatistics } from './realtime.ts';
