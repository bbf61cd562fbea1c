import type { Broadcast } from '../ports/ports.ts';

/** For a gateway of one instance: there is nobody to reach. */
export const localBroadcast: Broadcast = Object.freeze({
  publish: () => undefined,
  subscribe: () => () => undefined,
  health: () => null,
  close: () => Promise.resolve(),
});
