import { createHook } from 'node:async_hooks';

/** Counts the key derivations of PBKDF2 that are started meanwhile. */
export async function derivations(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PBKDF2REQUEST') count++;
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return count;
}
