import type { ServerResponse } from 'node:http';
import type { Message } from './message.ts';

/**
 * The requests that this process is answering. A client that disconnects cancels its request. Before revision 2026-07-28, clients
 * send a notification instead, with the id of the request, which is unique within their session: a random id, and no state.
 */
export class RunningRequests {
  readonly #requests = new Map<string, AbortController>();

  /** Adds a request until its response has ended. Returns its controller, which is aborted when the client no longer waits. */
  begin(session: string | null, { id }: Message, response: ServerResponse): AbortController {
    const controller = new AbortController();
    const key = toKey(session, id);
    if (response.destroyed) controller.abort();
    else if (key !== null) this.#requests.set(key, controller);
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
      if (key !== null && this.#requests.get(key) === controller) this.#requests.delete(key);
    });
    return controller;
  }

  /** Cancels the request that a notification names. */
  cancel(session: string | null, { method, params }: Message): void {
    if (method !== 'notifications/cancelled') return;
    const key = toKey(session, params?.requestId);
    if (key !== null) this.#requests.get(key)?.abort();
  }
}

const maxIdLength = 200;

function toKey(session: string | null, id: unknown): string | null {
  if (session === null || (typeof id !== 'string' && typeof id !== 'number')) return null;
  const key = JSON.stringify([session, id]);
  return key.length > maxIdLength ? null : key;
}
