import type { SoakCall, Client, CallOutcome } from '../client.ts';
import { type Item, ItemModel } from '../item-model.ts';
import type { User } from '../users.ts';
import { expectResponse, type Operation, parseJson, describeOutcome } from './operation.ts';

const maxItems = 20;

/** Writes and reads rows of a table with row level security, and models the acknowledged writes. */
export class ItemOperations {
  readonly models: Map<Client, ItemModel> = new Map();

  operations(): readonly Operation[] {
    return [
      { weight: 2, run: (client) => this.#insert(client) },
      { weight: 3, run: (client) => this.#upsert(client) },
      { weight: 2, run: (client) => this.#update(client) },
      { weight: 1.5, run: (client) => this.#remove(client) },
      { weight: 3, run: (client) => this.#select(client) },
      { weight: 1, run: (client) => this.#selectAll(client) },
      { weight: 1, run: (client) => this.#updateOther(client) },
    ];
  }

  #model(client: Client): ItemModel {
    let model = this.models.get(client);
    if (model === undefined) {
      model = new ItemModel(client.index);
      this.models.set(client, model);
    }
    return model;
  }

  #pick(client: Client): Item | null {
    const items = [...this.#model(client).live.values()];
    return items.length === 0 ? null : client.random.pick(items);
  }

  async #insert(client: Client): Promise<void> {
    const model = this.#model(client);
    if (model.live.size >= maxItems) return this.#remove(client);
    const owner = client.random.pick(findWriters(client));
    const [id, value] = [model.nextId(), client.token()];
    const call: SoakCall = { operation: 'item insert', user: owner, line: 'PUT /item', body: { id, value } };
    const outcome = await client.call(call);
    if (outcome.kind === 'notSent') model.markUncertain(id, undefined);
    else if (outcome.kind !== 'answered') model.markUncertain(id, undefined, value);
    else if (expectStatus(client, call, outcome, 204)) model.live.set(id, { id, owner, value });
    else model.markUncertain(id, undefined);
  }

  async #upsert(client: Client): Promise<void> {
    const model = this.#model(client);
    const item = this.#pick(client);
    if (item === null) return this.#insert(client);
    const { id, owner } = item;
    const value = client.token();
    const line = 'PUT /item/on-conflict-do-update/returning';
    const call: SoakCall = { operation: 'item upsert', user: owner, line, body: { id, value } };
    const outcome = await client.call(call);
    settleChange(model, item, outcome, value);
    expectResponse(client, call, outcome, JSON.stringify([{ id, value, owner: owner.id }]));
  }

  async #update(client: Client): Promise<void> {
    const model = this.#model(client);
    const item = this.#pick(client);
    if (item === null) return this.#insert(client);
    const { id, owner } = item;
    const value = client.token();
    const call: SoakCall = { operation: 'item update', user: owner, line: 'POST /item/returning', body: { id, value } };
    const outcome = await client.call(call);
    settleChange(model, item, outcome, value);
    expectResponse(client, call, outcome, JSON.stringify([{ id, value, owner: owner.id }]));
  }

  async #remove(client: Client): Promise<void> {
    const model = this.#model(client);
    const item = this.#pick(client);
    if (item === null) return this.#insert(client);
    const { id, owner, value } = item;
    const call: SoakCall = { operation: 'item delete', user: owner, line: 'DELETE /item', query: { id } };
    const outcome = await client.call(call);
    if (outcome.kind === 'notSent') return;
    if (outcome.kind !== 'answered') model.markUncertain(id, undefined, value);
    else if (expectStatus(client, call, outcome, 204)) model.live.delete(id);
  }

  async #select(client: Client): Promise<void> {
    const item = this.#pick(client);
    if (item === null) return this.#insert(client);
    const { id, owner, value } = item;
    const call: SoakCall = { operation: 'item select', user: owner, line: 'GET /item', query: { id } };
    expectResponse(client, call, await client.call(call), JSON.stringify([{ id, value, owner: owner.id }]));
  }

  /** Without a condition, the policy decides: all rows of the caller, and no others. */
  async #selectAll(client: Client): Promise<void> {
    const user = client.random.pick(findWriters(client));
    const call: SoakCall = { operation: 'items of a user', user, line: 'GET /item' };
    const outcome = await client.call(call);
    if (outcome.kind !== 'answered' || !expectStatus(client, call, outcome, 200)) return;
    const rows = parseJson(outcome.text) as readonly { id: number; value: string; owner: string }[];
    if (rows.some(({ owner }) => owner !== user.id))
      client.reportViolation('privileges', call, describeOutcome(outcome));
    const model = this.#model(client);
    const visible = new Map(rows.filter(({ id }) => !model.isUncertain(id)).map(({ id, value }) => [id, value]));
    const items = model.itemsOf(user);
    if (visible.size !== items.length || items.some(({ id, value }) => visible.get(id) !== value)) {
      client.reportViolation(
        'rows',
        call,
        `${JSON.stringify(items.map(({ id, value }) => [id, value]))}: ${describeOutcome(outcome)}`,
      );
    }
  }

  /** A row of another user cannot be changed. */
  async #updateOther(client: Client): Promise<void> {
    const item = this.#pick(client);
    if (item === null) return this.#insert(client);
    const user = findWriters(client).find((writer) => writer !== item.owner)!;
    const body = { id: item.id, value: 'stolen' };
    const call: SoakCall = { operation: 'item of another user', user, line: 'POST /item/returning', body };
    const outcome = await client.call(call);
    if (outcome.kind === 'answered' && outcome.text !== '[]')
      client.reportViolation('privileges', call, describeOutcome(outcome));
  }
}

/** The users of the client whose roles may write items. */
function findWriters(client: Client): readonly User[] {
  return client.users.filter(({ role }) => role !== client.context.roles.reader);
}

function settleChange(model: ItemModel, item: Item, outcome: CallOutcome, value: string): void {
  if (outcome.kind === 'notSent') return;
  if (outcome.kind !== 'answered') model.markUncertain(item.id, item.value, value);
  else if (outcome.status === 200) item.value = value;
}

function expectStatus(client: Client, call: SoakCall, outcome: CallOutcome, status: number): boolean {
  if (outcome.kind === 'answered' && outcome.status === status) return true;
  client.reportViolation('status', call, `${status} was expected, not ${describeOutcome(outcome)}`);
  return false;
}
