/** Replaces the module that starts the thread of row changes where there is no file of its program: the code becomes part of the module. */
import { rolldown } from 'rolldown';
import { sourceOf } from './packages.js';

const module = sourceOf('core', 'postgres/replication/reader-program');
const program = sourceOf('core', 'postgres/replication/reader-thread');

/** Returns a plugin of rolldown and vite. */
export function readerProgram() {
  let code;
  return {
    name: 'reader-program',
    async load(id) {
      if (id !== module) return null;
      code ??= bundle();
      return { code: moduleOf(await code), moduleType: 'js' };
    },
    // The cache of vitest does not know the files of the program, which are part of the module.
    configureVitest({ experimental_defineCacheKeyGenerator: defineCacheKey }) {
      defineCacheKey(({ id }) => (id === module ? false : undefined));
    },
  };
}

async function bundle() {
  const build = await rolldown({
    input: program,
    platform: 'node',
    // Optional, and not installed.
    external: ['pg-native', 'pg-cloudflare'],
  });
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false });
  await build.close();
  return output[0].code;
}

function moduleOf(code) {
  return `import { Worker } from 'node:worker_threads';
const program = ${JSON.stringify(code)};
export function startReaderThread(options) {
  return new Worker(program, { ...options, eval: true });
}`;
}
