import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { openStream } from '../events/support.ts';

/** Words of NpgsqlRest that are synonyms here. */

const raising = `returns void language plpgsql as $$ begin raise info 'i'; raise notice 'n'; raise warning 'w'; end $$;`;

describe('sse', () => {
  const gateway = useGateway(`
    create function infos() ${raising}
    comment on function infos is E'HTTP POST\\n@sse\\n@sse_scope all';
    create function notices() ${raising}
    comment on function notices is E'HTTP POST\\nsse_events_path /live on notice\\nsse_events_scope all';
    create function warnings() ${raising}
    comment on function warnings is E'HTTP POST\\nsse_events_level = warning\\nsse\\nsse_scope all';
    create function unclear() ${raising}
    comment on function unclear is E'HTTP POST\\nsse\\nsse_level debug';
  `);

  test.each([
    ['infos', 'info', 'i'],
    ['notices', 'live', 'n'],
    ['warnings', 'warning', 'w'],
  ])('%s streams the messages of its level at %s', async (name, path, message) => {
    const stream = await openStream(gateway.url, `/api/${name}/${path}`);
    await gateway.send(`POST /api/${name}`);
    await gateway.send(`POST /api/${name}`);
    expect(await stream.messages(2)).toEqual([message, message]);
  });

  test('another level is reported', () => {
    const messages = gateway.observations.flatMap((seen) =>
      seen.kind === 'diagnostic' ? [seen.diagnostic.message] : [],
    );
    expect(messages).toContain('sse_level takes info, notice, warning, not "debug"; events have the level info');
  });
});

describe('nested', () => {
  const gateway = useGateway(
    `create type place as (x int, y int);
     create function usual() returns table (id int, at place) language sql stable as $$ select 1, (2, 3)::place $$;
     comment on function usual is 'HTTP GET';
     create function nests() returns table (id int, at place) language sql stable as $$ select 1, (2, 3)::place $$;
     comment on function nests is E'HTTP GET\\n@nested';`,
    { compositeColumns: 'flat' },
  );

  test('one endpoint has nested objects', async () => {
    expect((await gateway.send('GET /api/usual')).body).toBe('[{"id":1,"x":2,"y":3}]');
    expect((await gateway.send('GET /api/nests')).body).toBe('[{"id":1,"at":{"x":2,"y":3}}]');
  });
});

describe('rate_limiter', () => {
  const gateway = useGateway(
    `create function limited() returns int language sql as 'select 1';
     comment on function limited is E'HTTP GET\\nrate_limiter_policy strict';
     create function unknown() returns int language sql as 'select 1';
     comment on function unknown is E'HTTP GET\\nrate_limiter other';`,
    { rateLimits: { policies: { strict: { type: 'fixed-window', limit: 1, window: 60 } } } },
  );

  test('it selects a policy of rateLimits', async () => {
    expect((await gateway.send('GET /api/limited')).status).toBe(200);
    expect((await gateway.send('GET /api/limited')).status).toBe(429);
    expect((await gateway.send('GET /api/unknown')).status).toBe(404);
  });
});
