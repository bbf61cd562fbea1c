/** A process with the gateway of one build: serves `DATABASE_URL` and SQL files, and reports its CPU time when asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

import type * as core from '@pgway/core';

const entry = process.argv[2] ?? '@pgway/core';
const { createGateway, sqlFilesSource } = (await import(
  entry.startsWith('/') ? pathToFileURL(entry).href : entry
)) as typeof core;
const gateway = await createGateway({
  connectionString: process.env['DATABASE_URL']!,
  poolSize: 4,
  sourcesCreated: (sources) => void sources.push(sqlFilesSource({ files: '*.sql', folder: process.env['SQL_FILES']! })),
});
const server = createServer(gateway.middleware);
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.on('disconnect', () => process.exit());
