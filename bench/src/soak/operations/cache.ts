import type { SoakCall, Client } from '../client.ts';
import { expectEcho, type Operation, describeOutcome } from './operation.ts';

const sharedTokens = 20;

/** Many callers request few cache keys: each response must have the role and user of its caller. */
async function cachedEcho(client: Client): Promise<void> {
  const token = `shared-${client.random.integer(1, sharedTokens)}`;
  const call: SoakCall = {
    operation: 'cached_echo',
    user: client.anyUser(),
    line: 'GET /cached-echo',
    query: { token },
  };
  expectEcho(client, call, await client.call(call), token);
}

/** Counters, one for each client: increments that were sent, and the last one that was acknowledged. */
export class CounterOperations {
  readonly #counters = new Map<Client, { sent: number; acknowledged: number }>();

  operations(): readonly Operation[] {
    return [
      { weight: 6, run: cachedEcho },
      { weight: 1.5, run: (client) => this.#bump(client) },
      { weight: 3, run: (client) => this.#read(client) },
    ];
  }

  async #bump(client: Client): Promise<void> {
    const counter = this.#counter(client);
    const key = keyOf(client);
    const call: SoakCall = { operation: 'bump', user: client.anyUser(), line: 'POST /bump', body: { key } };
    counter.sent++;
    const outcome = await client.call(call);
    if (outcome.kind === 'notSent') counter.sent--;
    if (outcome.kind !== 'answered') return;
    const value = Number(outcome.text);
    if (outcome.status !== 200) client.reportViolation('status', call, describeOutcome(outcome));
    else if (!(value > counter.acknowledged && value <= counter.sent)) {
      client.reportViolation('rows', call, `${JSON.stringify(counter)}: ${describeOutcome(outcome)}`);
    } else counter.acknowledged = value;
  }

  async #read(client: Client): Promise<void> {
    const counter = this.#counter(client);
    const key = keyOf(client);
    const call: SoakCall = {
      operation: 'read_counter',
      user: client.anyUser(),
      line: 'GET /read-counter',
      query: { key },
    };
    const outcome = await client.call(call);
    if (outcome.kind !== 'answered') return;
    const value = Number(outcome.text);
    if (outcome.status !== 200) client.reportViolation('status', call, describeOutcome(outcome));
    else if (!(value >= counter.acknowledged && value <= counter.sent)) {
      client.reportViolation('cache', call, `${JSON.stringify(counter)}: ${describeOutcome(outcome)}`);
    }
  }

  #counter(client: Client): { sent: number; acknowledged: number } {
    let counter = this.#counters.get(client);
    if (counter === undefined) {
      counter = { sent: 0, acknowledged: 0 };
      this.#counters.set(client, counter);
    }
    return counter;
  }
}

function keyOf(client: Client): string {
  return `counter-${client.index}`;
}
