import type { KeyStorage } from './storage.ts';

/** Keys that end with the process: for tests, and for development with a single process. */
export function keysInMemory(): KeyStorage {
  const keys = new Map<string, string>();
  return {
    read: () => Promise.resolve([...keys].map(([id, text]) => ({ text, place: `key ${id} in memory` }))),
    write: (id, text) => {
      if (!keys.has(id)) keys.set(id, text);
      return Promise.resolve();
    },
    warning: () =>
      Promise.resolve(
        'The keys of sign-in are kept in memory: everybody is signed out when this process ends, and other instances ' +
          'cannot read its cookies and tokens. Keep them in a folder or in the database.',
      ),
  };
}
