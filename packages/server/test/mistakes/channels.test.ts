/** Channels of events that no routine notifies. */
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

test('a misspelt channel of listen: a warning that names the one of a routine', async () => {
  const gateway = await startGateway(`
    create function order_added() returns trigger language plpgsql as $$
    begin perform pg_notify('orders', new.id::text); return new; end $$;
    create procedure tell() language plpgsql as $$ begin notify "Stock"; notify Prices, 'x'; end $$;
    create function misspelt() returns int language sql stable as $$ select 1 $$;
    comment on function misspelt is E'HTTP\\nlisten ordrs';
    create function other_case() returns int language sql stable as $$ select 1 $$;
    comment on function other_case is E'HTTP\\nlisten Prices';
    create function correct() returns int language sql stable as $$ select 1 $$;
    comment on function correct is E'HTTP\\nlisten orders';
    create function quoted() returns int language sql stable as $$ select 1 $$;
    comment on function quoted is E'HTTP\\nlisten Stock';
    create function of_a_program() returns int language sql stable as $$ select 1 $$;
    comment on function of_a_program is E'HTTP\\nlisten nightly_import';
  `);
  const warnings = gateway.gateway.diagnostics
    .filter((one) => one.severity !== 'info')
    .map(({ severity, routine, message }) => `${severity} ${routine}: ${message}`);
  await gateway.close();
  expect(warnings).toEqual([
    'warning public.misspelt(): listen: no routine of the database notifies the channel "ordrs"; did you mean "orders"?',
    'warning public.other_case(): listen: no routine of the database notifies the channel "Prices"; did you mean "prices"?',
  ]);
});
