import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { executionId, type OpenStream, openStream } from './support.ts';
import { people } from './people.ts';

const raising = (name: string, comment: string): string => `
  create function ${name}(_text text, _hint text default null) returns void language plpgsql as $$
  begin
    if _hint is null then raise info '%', _text; else raise info '%', _text using hint = _hint; end if;
  end $$;
  comment on function ${name} is 'HTTP POST
${comment}';`;

const gateway = useGateway(
  [
    raising('own', 'info_path'),
    raising('own_closed', 'info_path\nauthorize admin'),
    raising('matching_open', 'info_path\ninfo_scope matching'),
    raising('matching_admin', 'info_path\ninfo_scope matching\nauthorize admin'),
    raising('signed_in', 'info_path\ninfo_scope authorize'),
    raising('named', 'info_path\ninfo_scope authorize Staff, user:ada, id:id-eve'),
    raising('names_alone', 'info_path\ninfo_scope authorize ada, id-bob, user:Eve, id:eve, user:staff'),
    raising('everybody', 'info_path\ninfo_scope all'),
    raising('closed_to_all', 'info_path\ninfo_scope all\nauthorize admin'),
    raising('unknown', 'info_path\ninfo_scope everyone'),
  ].join('\n'),
  { authentication: { schemes: [people().scheme] } },
);

const as = (user: string | null, id: string | null = null): Record<string, string> => ({
  ...(user === null ? {} : { 'x-user': user }),
  ...(id === null ? {} : { 'x-gateway-id': id }),
});

const everybody = [null, 'ada', 'bob admin', 'cyd staff', 'eve'] as const;

/** Opens a stream per user; null for a refused one. */
async function streams(path: string): Promise<ReadonlyMap<string | null, OpenStream>> {
  const opened = await Promise.all(
    everybody.map(async (user) => [user, await openStream(gateway.url, path, as(user))] as const),
  );
  return new Map(opened);
}

async function call(name: string, body: object, headers: Record<string, string> = as('bob admin')): Promise<void> {
  const answer = await gateway.send(`POST /api/${name}`, { body, headers });
  expect([answer.status, answer.body]).toEqual([204, '']);
}

/** Returns the users that get a message. Every subscriber also gets a last message of scope `all`. */
async function hearers(name: string, hint?: string): Promise<readonly (string | null | number)[]> {
  const opened = await streams(`/api/${name.replaceAll('_', '-')}/info`);
  await call(name.replaceAll('_', '-'), hint === undefined ? { text: 'this' } : { text: 'this', hint });
  await call(name.replaceAll('_', '-'), { text: 'last', hint: 'all' });
  const heard: (string | null | number)[] = [];
  for (const [user, stream] of opened) {
    if (stream.status !== 200) heard.push(stream.status);
    else {
      const messages = await until(stream);
      if (messages.join() === 'this,last') heard.push(user);
      else if (messages.join() !== 'last') throw new Error(`${user} got ${messages.join()}`);
    }
  }
  return heard;
}

async function until(stream: OpenStream): Promise<readonly string[]> {
  let messages = await stream.messages(1);
  if (messages.at(-1) !== 'last') messages = await stream.messages(2);
  return messages;
}

describe('recipients', () => {
  test.each([
    ['own', []],
    ['own_closed', [401, 403, 403, 403]],
    ['matching_open', [null, 'ada', 'bob admin', 'cyd staff', 'eve']],
    ['matching_admin', [401, 403, 'bob admin', 403, 403]],
    ['signed_in', [401, 'ada', 'bob admin', 'cyd staff', 'eve']],
    ['named', [401, 'ada', 403, 'cyd staff', 'eve']],
    ['names_alone', [401, 403, 403, 403, 403]],
    ['everybody', [null, 'ada', 'bob admin', 'cyd staff', 'eve']],
    ['closed_to_all', [null, 'ada', 'bob admin', 'cyd staff', 'eve']],
    ['unknown', []],
  ] as const)('by the scope of the endpoint: %s', async (name, expected) => {
    expect(await hearers(name)).toEqual(expected);
  });

  test.each([
    ['own', 'all', [null, 'ada', 'bob admin', 'cyd staff', 'eve']],
    ['everybody', 'self', []],
    ['everybody', 'authorize', ['ada', 'bob admin', 'cyd staff', 'eve']],
    ['everybody', 'authorize STAFF', ['cyd staff']],
    ['everybody', ' Authorize  admin,user:eve ', ['bob admin', 'eve']],
    ['everybody', 'authorize ada', []],
    ['everybody', 'authorize user:ada id:id-bob', ['ada', 'bob admin']],
    ['everybody', 'authorize user:admin', []],
    ['closed_to_all', 'matching', ['bob admin']],
    ['named', 'authorize user:bob', [401, 'ada', 403, 'cyd staff', 'eve']],
    ['signed_in', 'authorize admin', [401, 'bob admin']],
    ['everybody', 'MATCHING', [null, 'ada', 'bob admin', 'cyd staff', 'eve']],
  ] as const)('by the hint: %s, %s', async (name, hint, expected) => {
    expect(await hearers(name, hint)).toEqual(expected);
  });

  test('a user with the name of a role does not match the role', async () => {
    const [staff, cyd] = [
      await openStream(gateway.url, '/api/everybody/info', as('staff')),
      await openStream(gateway.url, '/api/everybody/info', as('cyd staff')),
    ];
    await call('everybody', { text: 'for staff', hint: 'authorize staff' });
    await call('everybody', { text: 'last', hint: 'all' });
    expect([await staff.messages(1), await cyd.messages(2)]).toEqual([['last'], ['for staff', 'last']]);
    expect((await openStream(gateway.url, '/api/named/info', as('staff'))).status).toBe(403);
  });

  test('an unknown hint falls back to the endpoint scope, and is reported', async () => {
    expect(await hearers('matching_admin', 'all of them')).toEqual([401, 403, 'bob admin', 403, 403]);
    expect(await hearers('own', 'Try again.')).toEqual([]);
    const told = gateway.observations.flatMap((seen) =>
      seen.kind === 'unknown-hint' ? [[seen.endpoint.name, seen.hint]] : [],
    );
    expect(told).toEqual([
      ['matching_admin', 'all of them'],
      ['own', 'Try again.'],
    ]);
  });

  test('an unknown scope is reported at the start', () => {
    const told = gateway.gateway.diagnostics.filter(({ code }) => code === 'unknown-scope');
    expect(told.map(({ severity, message }) => [severity, message])).toEqual([
      [
        'warning',
        'info_scope takes self, matching, authorize with names, or all, not "everyone"; only the caller receives the events',
      ],
    ]);
  });
});

describe('scope self', () => {
  const own = async (user: string | null, id: string | null): Promise<OpenStream> =>
    openStream(gateway.url, `/api/own/info${id === null ? '' : `?${id}`}`, as(user));

  test.each([null, 'ada'])('a stream has the events of calls with its execution id: %s', async (user) => {
    const [id, other] = [executionId(), executionId()];
    const [stream, neighbour, without] = [await own(user, id), await own(user, other), await own(user, null)];
    await call('own', { text: 'mine' }, as(user, id));
    await call('own', { text: 'without id' }, as(user));
    await call('own', { text: 'last', hint: 'all' }, as(user));
    expect(await stream.messages(2)).toEqual(['mine', 'last']);
    expect(await neighbour.messages(1)).toEqual(['last']);
    expect(await without.messages(1)).toEqual(['last']);
  });

  test('the same execution id of another user matches nothing', async () => {
    const id = executionId();
    const streams = [await own(null, id), await own('eve', id), await own('ada', id), await own('ada admin', id)];
    await call('own', { text: 'mine' }, as('ada', id));
    await call('own', { text: 'last', hint: 'all' });
    expect(await Promise.all(streams.map((stream) => until(stream)))).toEqual([
      ['last'],
      ['last'],
      ['mine', 'last'],
      ['mine', 'last'],
    ]);
  });

  test('the execution id may be a header', async () => {
    const id = executionId();
    const stream = await openStream(gateway.url, '/api/own/info', as('ada', id));
    await call('own', { text: 'mine' }, as('ada', id));
    expect(await stream.messages(1)).toEqual(['mine']);
  });

  test.each([
    'short',
    '123456789012345678901',
    '0123456789abcdef0123456789abcde',
    '1111111111111111111111',
    `${'a'.repeat(20)}%20b`,
    `id=${'g'.repeat(22)}`,
    'g'.repeat(129),
  ])('an id that is easy to guess is refused for calls and streams: %s', async (id) => {
    const stream = await openStream(gateway.url, `/api/own/info?${id}`);
    const answer = await gateway.send('POST /api/own', { body: { text: 'x' }, headers: { 'x-gateway-id': id } });
    for (const { status, text } of [stream, { status: answer.status, text: answer.body }]) {
      expect([status, (JSON.parse(text) as { type: string }).type]).toEqual([
        400,
        'urn:pgway:problem:invalid-execution-id',
      ]);
    }
  });

  test.each(['g'.repeat(22), '0123456789abcdef0123456789abcdef', 'A-_456789012345678901z', executionId()])(
    'an id of at least 128 bits is accepted: %s',
    async (id) => {
      const stream = await own(null, id);
      await call('own', { text: 'mine' }, as(null, id));
      expect(await stream.messages(1)).toEqual(['mine']);
    },
  );
});
