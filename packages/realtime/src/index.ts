export type { RealtimeOptions } from './options.ts';
export { realtime, type Realtime } from './realtime.ts';
