/** The program of the thread that reads changes. It answers the server while the thread of the gateway is busy. */
import { parentPort, workerData } from 'node:worker_threads';
import { type FromThread, fromCloneable, type ReaderStart, toPlainError, type ToThread } from './reader-messages.ts';
import { ReplicationStream } from './replication-stream.ts';

const port = parentPort!;
const start = workerData as ReaderStart;

function tell(message: FromThread): void {
  port.postMessage(message);
}

/** The first error ends the thread. */
function fail(error: unknown): void {
  tell({ kind: 'failed', error: toPlainError(error) });
  void close();
}

async function close(): Promise<void> {
  await stream.close();
  tell({ kind: 'closed' });
  port.close();
}

const stream: ReplicationStream = new ReplicationStream({
  connection: fromCloneable(start),
  publication: start.publication,
  maxKeys: start.maxKeys,
  keys: start.keys,
  onChanges: ({ transactions, definitions, position, weight }) =>
    tell({
      kind: 'changes',
      transactions,
      definitions: definitions.map(({ serial, relation }) => ({ serial, relation })),
      position,
      weight,
    }),
  onEnd: (error) => {
    if (error !== null) fail(error);
  },
});

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'reach':
      return stream.reach(message.lsn);
    case 'handled':
      return stream.handled(message.weight);
    case 'close':
      return void close();
  }
});

stream.open().then((opened) => tell({ kind: 'opened', ...opened }), fail);
