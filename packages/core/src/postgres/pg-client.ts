import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { createHandshakeValidator } from './handshake.ts';
import { ConnectionSetupError } from './port.ts';

/** The part of a `pg` client that we use and that `pg` does not declare. */
export interface PgClient {
  readonly connection: {
    readonly stream: Socket;
    /** Called for the socket, and once more when TLS is laid over it. */
    attachListeners(stream: Socket): void;
  };
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | ConnectionOptions;
  /** Where its transaction stands, as the last ReadyForQuery told it. */
  readonly _txStatus?: string | null;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

export type DataListener = (chunk: Buffer) => void;

/** @throws ConnectionSetupError for what is no client with a socket, such as one of `pg-native` */
export function toPgClient(client: object | undefined): PgClient {
  const internals = client as Partial<PgClient> | undefined;
  const stream = internals?.connection?.stream;
  if (typeof stream?.on === 'function' && typeof internals?.processID === 'number') return client as PgClient;
  throw new ConnectionSetupError('the host gave no connected client of "pg" (its JavaScript one, not pg-native)');
}

/** From here on `pg` no longer reads the socket; its listeners for errors and the end stay and do no harm. */
export function detachSocket({ connection: { stream } }: Pick<PgClient, 'connection'>): Socket {
  stream.removeAllListeners('data');
  return stream;
}

/**
 * Where `pg` cannot go on with what it reads, it throws, and nobody but the process would catch it: a server that asks for
 * Kerberos is enough. From here on the connection fails instead, which `pg` tells.
 */
export function guardHandshake({ connection }: Pick<PgClient, 'connection'>): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const before = stream.listeners('data');
    attach(stream);
    for (const listener of stream.listeners('data').filter((one) => !before.includes(one)) as DataListener[]) {
      const check = createHandshakeValidator();
      stream.off('data', listener);
      stream.on('data', (chunk: Buffer) => {
        try {
          check(chunk);
          listener(chunk);
        } catch (error) {
          stream.destroy(error as Error);
        }
      });
    }
  };
}
