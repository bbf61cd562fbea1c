import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { openStream } from './stream-support.ts';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text, length integer);
  comment on table film is 'HTTP
changes';
  create publication pgway_changes for table film;
  insert into film values (1, 'One', 90), (2, 'Two', 120);
  `,
  { routineSources: [crudSource({ listing: true })], changes: { window: 0 } },
);

describe('the stream of changes of a table', () => {
  test('begins with the rows, and continues with changes', async () => {
    const stream = await openStream(gateway, '/api/film/changes?snapshot=true&length=lt.100');
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const film = '"schema":"public","table":"film"';

    await expect
      .poll(() => stream.events())
      .toEqual([{ event: 'row', data: `{"type":"row",${film},"record":{"id":1,"title":"One","length":90}}` }]);
    await gateway.database.query(`update film set length = 80 where id = 2; delete from film where id = 1`);
    await expect
      .poll(() => stream.events().slice(1))
      .toEqual([
        {
          event: 'insert',
          id: expect.stringMatching(/^[0-9A-F]{8}-[0-9A-F]{16}\.[0-9A-F]{8}-[0-9a-f]{8}$/),
          data: expect.stringMatching(
            `^{"type":"insert",${film},"commitTimestamp":"20.{24}Z","record":{"id":2,"title":"Two","length":80}}$`,
          ),
        },
        {
          event: 'delete',
          id: expect.any(String),
          data: expect.stringMatching(`^{"type":"delete",${film},"commitTimestamp":"20.{24}Z","old":{"id":1}}$`),
        },
      ]);
  });
});
