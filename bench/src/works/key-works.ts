import { strictEqual } from 'node:assert/strict';

import { installIdempotency } from '@pgway/core';

import { parseBody } from './routine-works.ts';
import { jsonRequest, uniquePart, type Work } from './work.ts';

/** A function that inserts a row, and the store of keys. */
export const keySchemaSql: string = `
create table bench.payment (id int generated always as identity primary key, amount int not null);
create function bench.pay(amount int) returns int
language sql volatile
as $$ insert into bench.payment (amount) values (pay.amount) returning amount $$;
comment on function bench.pay(int) is 'HTTP POST
idempotent';
${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
`;

/** Writes without an idempotency key, and with a new one. */
export const keyWorks: readonly Work[] = [
  { ...pay({}), forms: { 'pgway-key': pay({ 'idempotency-key': `"${uniquePart}"` }) } },
];

function pay(keyHeaders: Readonly<Record<string, string>>): Work {
  return {
    name: 'insert',
    // The load generator takes as long for requests in turn as for unique ones; it is faster with a single request.
    loadRequests: 1000,
    request(number) {
      const { headers, ...request } = jsonRequest('POST', '/pay', { amount: number });
      return { ...request, headers: { ...headers, ...keyHeaders } };
    },
    verify: (response, number) => strictEqual(parseBody(response), number),
    pgbench: null,
    goal: null,
  };
}
