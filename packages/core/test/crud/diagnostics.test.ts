import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

test('an error in the comment of a table is reported once, not per operation', async () => {
  const gateway = await startGateway(
    `create table book (id int primary key, title text);
     comment on table book is E'HTTP\\nauthrize staff\\nfor insert\\nX-Made: yes\\ntimeout = soon';
     create table film (id int primary key, title text);
     comment on table film is 'HTTP GET /films';
     create table tape (id int primary key, title text); create table disc (id int primary key, title text);
     comment on table tape is 'HTTP /media'; comment on table disc is 'HTTP /media';`,
    tables(),
  );
  const said = gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info');
  expect(said.map(({ severity, code, routine, line }) => `${severity} ${code} ${routine} ${line}`)).toEqual([
    'error near-miss public.book 2',
    'warning bad-argument public.book 5',
    'error duplicate-route public.disc null',
    'error duplicate-route public.tape null',
    'error duplicate-route public.film null',
  ]);
  expect(said.slice(2).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^GET "\/media", .* is also the route of public\.tape, so neither is published/),
    expect.stringMatching(/^GET "\/media", .* is also the route of public\.disc, so neither is published/),
    expect.stringMatching(/^GET "\/films", .* is the route of several operations on the table \(select, update,/),
  ]);
  await gateway.close();
});

test('a table with key columns only: the start reports that update and upsert change nothing', async () => {
  const gateway = await startGateway(
    `create table link (book int, tag int, primary key (book, tag)); insert into link values (1, 2);
     create table numbered (id int primary key, no int generated always as identity, twice int generated always as (id * 2) stored);
     create table noted (id int primary key, note text);
     create table quiet (id int primary key); comment on table quiet is 'disabled update, on_conflict_do_update';`,
    tables(),
  );
  const said = gateway.gateway.diagnostics.filter(({ code }) => code !== 'annotation-set');
  expect(said.map(({ severity, code, routine }) => [severity, code, routine])).toEqual([
    ['info', 'nothing-to-set', 'public.link'],
    ['info', 'nothing-to-set', 'public.numbered'],
  ]);
  expect(said[0]!.message).toBe(
    'every writable column of public.link is part of its key, so update always responds with 404, and on_conflict_do_update acts like on_conflict_do_nothing; write "disabled update, on_conflict_do_update" in the comment to hide them',
  );
  expect(await ask(gateway, 'POST /api/link', { book: 1, tag: 2 })).toEqual(refusal(404, { missing: [] }));
  expect(await ask(gateway, 'PUT /api/link/on-conflict-do-update/returning', { book: 1, tag: 2 })).toEqual([200, []]);
  await gateway.close();
});
