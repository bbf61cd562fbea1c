import { AsyncLocalStorage, createHook } from 'node:async_hooks';

const counted = new AsyncLocalStorage<object>();

/** Counts the key derivations of PBKDF2 that the work starts, and not those that other work of the process starts meanwhile. A request must not pass through a socket. */
export async function derivations(work: () => Promise<unknown>): Promise<number> {
  const own = {};
  let count = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PBKDF2REQUEST' && counted.getStore() === own) count++;
    },
  }).enable();
  try {
    await counted.run(own, work);
  } finally {
    hook.disable();
  }
  return count;
}
