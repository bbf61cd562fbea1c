import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { createHandshakeValidator } from './handshake.ts';
import { ConnectionSetupError } from './port.ts';

/** The members of a `pg` client that the gateway uses and that the types of `pg` lack. */
export interface PgClient {
  readonly connection: {
    readonly stream: Socket;
    /** Called for the plain socket, and again for the TLS socket. */
    attachListeners(stream: Socket): void;
  };
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | ConnectionOptions;
  /** The transaction status of the last ReadyForQuery. */
  readonly _txStatus?: string | null;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

export type DataListener = (chunk: Buffer) => void;

/**
 * Returns the object as a connected `pg` client.
 * @throws ConnectionSetupError for an object without a socket, such as a client of `pg-native`
 */
export function toPgClient(client: object | undefined): PgClient {
  const internals = client as Partial<PgClient> | undefined;
  const stream = internals?.connection?.stream;
  if (typeof stream?.on === 'function' && typeof internals?.processID === 'number') return client as PgClient;
  throw new ConnectionSetupError(
    'the provided client is not a connected JavaScript client of "pg" (pg-native is not supported)',
  );
}

/** Stops `pg` from reading the socket and returns it. Its listeners for errors and the end remain. */
export function detachSocket({ connection: { stream } }: Pick<PgClient, 'connection'>): Socket {
  stream.removeAllListeners('data');
  return stream;
}

/**
 * Turns exceptions that `pg` throws while it reads the handshake, as for a server that requests Kerberos, into an error of the
 * socket. Otherwise they would end the process.
 * @returns a function that ends the check, for a connection that `pg` continues to read
 */
export function guardHandshake({ connection }: Pick<PgClient, 'connection'>): () => void {
  let isHandshake = true;
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const existing = stream.listeners('data');
    attach(stream);
    for (const listener of stream.listeners('data').filter((other) => !existing.includes(other)) as DataListener[]) {
      const validate = createHandshakeValidator();
      stream.off('data', listener);
      stream.on('data', (chunk: Buffer) => {
        try {
          if (isHandshake) validate(chunk);
          listener(chunk);
        } catch (error) {
          stream.destroy(error as Error);
        }
      });
    }
  };
  return () => {
    isHandshake = false;
  };
}
