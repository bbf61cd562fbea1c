import { strictEqual } from 'node:assert/strict';

import { parseBody, routineWorks } from './routine-works.ts';
import { jsonRequest, type Work } from './work.ts';

/** Calls in a batch. */
const batchCalls = 10;
/** The target ratio of calls per second to those of single requests. */
const scalarGoal = 4;

/** Calls one by one, and ten of them in a transaction. */
export const batchWorks: readonly Work[] = routineWorks
  .filter(({ name }) => ['scalar', 'volatile', 'rows-10'].includes(name))
  .map((single) => {
    const batch = batchOf(single);
    return {
      ...single,
      forms: { 'pgway-batch': batch, 'fastify-batch': batch },
      goal: single.name === 'scalar' ? scalarGoal : null,
    };
  });

/** A batch of calls with different arguments; number 0 repeats the typical call. */
function batchOf(single: Work): Work {
  const numbers = (number: number): readonly number[] =>
    Array.from({ length: batchCalls }, (_, index) => (number === 0 ? 0 : number * batchCalls + index));
  const requests = (number: number): readonly object[] =>
    numbers(number).map((call) => {
      const { method, path } = single.request(call);
      return { method, path: `/api/bench${path}` };
    });
  return {
    ...single,
    calls: batchCalls,
    request: (number) => jsonRequest('POST', '/batch', requests(number)),
    verify(response, number) {
      const results = parseBody(response) as readonly { readonly status: number; readonly body: unknown }[];
      strictEqual(results.length, batchCalls, 'number of responses');
      results.forEach(({ status, body }, index) => {
        single.verify({ status, body: Buffer.from(JSON.stringify(body)) }, numbers(number)[index]!);
      });
    },
  };
}

/** Returns the routines and arguments of a batch, for a hand-written handler. Throws for other paths. */
export function parseBatch(
  requests: readonly { readonly path: string }[],
): readonly { readonly routine: string; readonly values: readonly number[] }[] {
  return requests.map(({ path }) => {
    const match = /^\/api\/bench\/(?:(add|plus)\?a=(\d+)&b=(\d+)|(items)\?lim=(\d+))$/.exec(path);
    if (match === null) throw new RangeError(`the batch has no endpoint for '${path}'`);
    const [, sum, a, b, items, limit] = match;
    return sum === undefined
      ? { routine: items!, values: [Number(limit)] }
      : { routine: sum, values: [Number(a), Number(b)] };
  });
}
