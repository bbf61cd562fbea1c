import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { connect, join, useRealtime } from './support.ts';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text, length integer);
  create publication pgway_changes for table film;
  insert into film values (1, 'One', 90), (2, 'Two', 120);
  `,
  { routineSources: [crudSource()], commentsMode: 'parseAll', changes: { window: 0 } },
);
const server = useRealtime(() => gateway.gateway);

describe.each(['1.0.0', '2.0.0'])('a client with vsn %s', (vsn) => {
  test('gets inserts, updates and deletes', async () => {
    const { received, status } = await join(connect(server, { vsn }), [
      { event: '*', schema: 'public', table: 'film' },
    ]);
    expect(status).toBe('SUBSCRIBED');
    await gateway.database.query(`insert into film values (3, 'Three', 60)`);
    await expect
      .poll(() => received[0])
      .toEqual([
        {
          schema: 'public',
          table: 'film',
          commit_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/),
          eventType: 'INSERT',
          new: { id: 3, title: 'Three', length: 60 },
          old: {},
          errors: null,
        },
      ]);
    await gateway.database.query(`update film set length = 61 where id = 3`);
    await expect
      .poll(() => received[0]!.slice(1))
      .toMatchObject([{ eventType: 'UPDATE', new: { id: 3, title: 'Three', length: 61 }, old: { id: 3 } }]);
    await gateway.database.query(`delete from film where id = 3`);
    await expect.poll(() => received[0]!.slice(2)).toMatchObject([{ eventType: 'DELETE', new: {}, old: { id: 3 } }]);
  });
});
