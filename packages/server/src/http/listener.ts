/** Where a server gets its connections from. */
import { ExpectedError } from '../expected-error.ts';
import { type AddressInfo, Server } from 'node:net';

/** The server cannot listen on its address; the message says what to do. */
export class ListenError extends ExpectedError {
  override readonly name = 'ListenError';
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** That has the port. */
  readonly setting: string;
}

/** Gives a server the connections of an address. */
export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Ends the listening. Open connections stay; the callback is called when all of them have ended. */
  close(ended: () => void): void;
}

/** @throws ListenError */
export type Listen = (server: Server, address: ListenAddress) => Promise<Listener>;

/** Listens in this process. */
export async function listenHere(server: Server, address: ListenAddress): Promise<Listener> {
  await startListening(server, address);
  const bound = server.address() as AddressInfo;
  return {
    address: bound.address,
    port: bound.port,
    // That of HTTP servers closes idle connections, on which requests may arrive.
    close: (ended) => void Server.prototype.close.call(server, ended),
  };
}

/** @throws ListenError */
export function startListening(server: Server, { host, port, setting }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, { host, port, setting })));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, { host, port, setting }: ListenAddress): ListenError {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(
        `port ${port} on ${host} is already in use; stop the other process or pass --${setting}=${port < 65_535 ? port + 1 : 8080}`,
      );
    case 'EACCES':
      return new ListenError(
        `no permission to listen on port ${port} of ${host}; pass --${setting}=8080 or another port from 1024`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new ListenError(`${host} is not an address of this machine; pass --host=127.0.0.1`);
    default:
      return new ListenError(`cannot listen on ${host}, port ${port}: ${error.message}`);
  }
}
