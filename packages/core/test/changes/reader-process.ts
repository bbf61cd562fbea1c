/** A process with a reader, for tests that kill, stop or block it. Prints a line for each event. */
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { openChangeReader } from '../../src/postgres/replication/change-reader.ts';

const [connectionString = ''] = process.argv.slice(2);

await openChangeReader({
  connection: parseConnectionString(connectionString),
  publication: 'pgway_changes',
  maxKeys: 1000,
  onTransaction: ({ changes }) => console.log(`${changes.length} changes`),
  onFailure: (error) => console.log(`failure: ${error.message}`),
});
console.log('open');
process.stdin.on('data', () => {
  console.log('blocked');
  for (;;);
});
