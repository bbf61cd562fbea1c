/** A load of requests at a steady rate, and what became of each of them. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface LoadOptions {
  readonly port: number;
  /** The certificate of the server; without one, requests use HTTP. */
  readonly certificate?: string;
  /** Requests per second. */
  readonly rate: number;
  /** The method and path of a request, by its number. */
  readonly call: (id: number) => { readonly method: string; readonly path: string };
  /** Milliseconds that a request may take. */
  readonly timeout?: number;
}

export interface Outcome {
  readonly id: number;
  /** Null: the connection ended without a response, or the response was late. */
  readonly status: number | null;
  /** The body, or the reason of a failure. */
  readonly text: string;
  /** By `performance.now()`. */
  readonly begun: number;
  readonly ended: number;
}

/** A slower machine gets fewer requests per second: no more than these are in flight. */
const maxInFlight = 100;

/** Sends requests until `stop`, whether or not earlier ones have been answered. */
export class Load {
  readonly outcomes: Outcome[] = [];
  readonly #options: LoadOptions;
  readonly #agent: HttpAgent;
  readonly #timer: NodeJS.Timeout;
  readonly #begun = performance.now();
  #sent = 0;
  #settled: (() => void) | null = null;

  constructor(options: LoadOptions) {
    this.#options = options;
    const limits = { keepAlive: true, maxSockets: maxInFlight };
    this.#agent =
      options.certificate === undefined
        ? new HttpAgent(limits)
        : new HttpsAgent({ ...limits, ca: options.certificate });
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  /** The number of requests so far. */
  get sent(): number {
    return this.#sent;
  }

  /** The number of requests without a response. */
  get inFlight(): number {
    return this.#sent - this.outcomes.length;
  }

  /** Resolves when each request has its outcome. */
  async stop(): Promise<readonly Outcome[]> {
    clearInterval(this.#timer);
    while (this.inFlight > 0) await new Promise<void>((resolve) => (this.#settled = resolve));
    this.#agent.destroy();
    return this.outcomes;
  }

  #sendDue(): void {
    const { rate } = this.#options;
    const due = ((performance.now() - this.#begun) / 1_000) * rate;
    // After a pause of this process, it does not catch up.
    const burst = Math.max(1, Math.ceil(rate / 50));
    for (let count = 0; count < burst && this.#sent < due && this.inFlight < maxInFlight; count++)
      this.#send(this.#sent++);
  }

  #send(id: number): void {
    const { port, certificate, call, timeout = 30_000 } = this.#options;
    const request = certificate === undefined ? httpRequest : httpsRequest;
    const begun = performance.now();
    const settle = (status: number | null, text: string): void => {
      if (isSettled) return;
      isSettled = true;
      this.outcomes.push({ id, status, text, begun, ended: performance.now() });
      this.#settled?.();
    };
    let isSettled = false;
    const sent = request(
      { agent: this.#agent, host: '127.0.0.1', port, ...call(id), signal: AbortSignal.timeout(timeout) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => settle(response.complete ? response.statusCode! : null, text));
        response.on('error', (error) => settle(null, error.message));
      },
    );
    sent.on('error', (error) => settle(null, error.message));
    sent.end();
  }
}
