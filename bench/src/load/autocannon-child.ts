/** The entry point of a process that runs autocannon with the options that it receives, and sends the result. */
import { createRequire } from 'node:module';

import type { AutocannonResult } from './autocannon.ts';

const autocannon = createRequire(import.meta.url)('autocannon') as (options: object) => Promise<AutocannonResult>;

process.once('message', (options: object) => {
  void autocannon(options).then((result) => {
    process.send!(result);
    process.disconnect();
  });
});
