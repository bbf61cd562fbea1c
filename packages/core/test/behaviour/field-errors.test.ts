import { crudSource } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const sql = `
  create domain score as int constraint score_of_1_to_5 check (value between 1 and 5);
  comment on constraint score_of_1_to_5 on domain score is 'A score is from 1 to 5.';

  create table club (id int primary key, secret_plan text);
  insert into club values (1);

  create table member (
    id         int generated always as identity primary key,
    email      text not null,
    birth_date date constraint birth_in_the_past check (birth_date < '2020-01-01'),
    club_id    int references club,
    starts_on  int,
    ends_on    int,
    score      score,
    code       varchar(5),
    "a/b~c"    text unique,
    constraint start_before_end check (starts_on < ends_on),
    constraint one_start_per_club unique (club_id, starts_on),
    exclude using btree (ends_on with =)
  );
  create unique index on member (lower(email));
  comment on constraint birth_in_the_past on member is 'The date of birth is in the future.';
  comment on constraint start_before_end on member is 'field = ends_on
    The end is before the start.';
  insert into member (email, ends_on, "a/b~c") values ('ada@example.com', 99, 'x');

  create function add_member(_email text, p_birth_date date default null, club_id int default null, starts_on_ int default null,
    ends_on int default null, _score int default null, _slash text default null) returns void language sql volatile as $$
    insert into member (email, birth_date, club_id, starts_on, ends_on, score, "a/b~c") values ($1, $2, $3, $4, $5, $6, $7) $$;
  comment on function add_member is 'HTTP POST
  field_errors';

  create type new_member as (email text, club_id int);
  create function add_composite(_new new_member) returns void language sql volatile as $$
    insert into member (email, club_id) values (_new.email, _new.club_id) $$;
  comment on function add_composite is 'HTTP POST
  field_errors';
  create function add_several(_new new_member[]) returns void language sql volatile as $$
    insert into member (email, club_id) select email, club_id from unnest(_new) $$;
  comment on function add_several is 'HTTP POST
  field_errors';

  create function rate(_score score) returns int language sql volatile as $$ select _score::int $$;
  comment on function rate is 'HTTP POST
  field_errors 422';

  create function refuse(_birth_date date, _column text default 'birth_date', _code text default 'P0001') returns void language plpgsql as $$
    begin raise exception 'Too young' using column = _column, errcode = _code; end $$;
  comment on function refuse is 'HTTP POST
  field_errors 422';

  create function hide(_n int) returns void language plpgsql as $$ begin update club set id = null; end $$;
  comment on function hide is 'HTTP POST
  field_errors';
  create table visit (n int, ip_address text not null, unique (n, ip_address));
  create function visit(_n int, _ip_address text default null) returns void language sql volatile as $$
    insert into visit values (_n, _ip_address) $$;
  comment on function visit is 'HTTP POST
  user_parameters
  field_errors';
  create function fail() returns void language plpgsql as $$ begin raise exception 'not so'; end $$;
  comment on function fail is 'HTTP POST
  field_errors 422';

  create function without(_email text) returns void language sql volatile as $$ insert into member (email) values ($1) $$;
  comment on function without is 'HTTP POST';

  create table parted (id int, n int, constraint n_is_small check (n < 10)) partition by list (id);
  comment on constraint n_is_small on parted is 'At most 9.';
  create table parted_1 partition of parted for values in (1);
  create function add_parted(_n int) returns void language sql volatile as $$ insert into parted values (1, _n) $$;
  comment on function add_parted is 'HTTP POST
  field_errors';
`;

const gateway = useGateway(sql);

/** Returns the status and the member `errors`. */
async function post(path: string, body: unknown, to = gateway) {
  const response = await to.send(`POST /api/${path}`, { body });
  const { errors } = JSON.parse(response.body || '{}') as { errors?: unknown };
  return { status: response.status, errors };
}

const one = (pointer: string, code: string, detail: string) => [{ pointer, code, detail }];

test('the problem lists errors beside the members of PostgreSQL', async () => {
  const { status, body } = await gateway.send('POST /api/add-member', { body: { email: 'ADA@example.com' } });
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: 409,
    body: {
      type: 'urn:pgway:problem:database-error',
      title: 'duplicate key value violates unique constraint "member_lower_idx"',
      status: 409,
      detail: 'Key (lower(email))=(ada@example.com) already exists.',
      code: '23505',
      constraint: 'member_lower_idx',
      table: 'member',
      errors: one('/email', 'unique', 'This value is already in use.'),
    },
  });
});

describe('a violated constraint names the parameters of its columns', () => {
  const email = 'new@example.com';
  test.each([
    ['not-null', { email: null }, 400, one('/email', 'not-null', 'A value is required.')],
    [
      'foreign key',
      { email, clubId: 7 },
      400,
      one('/clubId', 'foreign-key', 'This value refers to a record that does not exist.'),
    ],
    [
      'check, with the comment of the constraint',
      { email, pBirthDate: '2030-01-01' },
      400,
      one('/pBirthDate', 'check', 'The date of birth is in the future.'),
    ],
    [
      'check, with the field of the comment',
      { email, startsOn: 2, endsOn: 1 },
      400,
      one('/endsOn', 'check', 'The end is before the start.'),
    ],
    [
      'exclusion',
      { email, endsOn: 99 },
      409,
      one('/endsOn', 'exclusion', 'This value conflicts with an existing one.'),
    ],
    ['a domain of a column', { email, score: 9 }, 400, one('', 'check', 'A score is from 1 to 5.')],
    [
      'a column whose name a pointer escapes',
      { email, slash: 'x' },
      409,
      one('', 'unique', 'This value is already in use.'),
    ],
  ])('%s', async (_, body, status, errors) => {
    expect(await post('add-member', body)).toEqual({ status, errors });
  });

  test('several columns', async () => {
    const body = { email: 'second@example.com', clubId: 1, startsOn: 5 };
    expect(await post('add-member', body)).toEqual({ status: 204, errors: undefined });
    const detail = 'This combination of values is already in use.';
    expect(await post('add-member', { ...body, email: 'third@example.com' })).toEqual({
      status: 409,
      errors: [
        { pointer: '/clubId', code: 'unique', detail },
        { pointer: '/startsOn', code: 'unique', detail },
      ],
    });
  });

  test('a constraint of a partition has the comment of its parent', async () => {
    expect(await post('add-parted', { n: 10 })).toEqual({ status: 400, errors: one('/n', 'check', 'At most 9.') });
  });

  test('the parameter of a domain', async () => {
    const errors = one('/score', 'check', 'A score is from 1 to 5.');
    expect(await post('rate', { score: 6 })).toEqual({ status: 422, errors });
  });

  test('a column that is no parameter is not named', async () => {
    expect(await post('hide', { n: 1 })).toEqual({ status: 400, errors: one('', 'not-null', 'A value is required.') });
  });

  test('a parameter that the gateway fills is not named', async () => {
    expect(await post('visit', { n: 1 })).toEqual({ status: 204, errors: undefined });
    const errors = one('/n', 'unique', 'This value is already in use.');
    expect(await post('visit', { n: 1 })).toEqual({ status: 409, errors });
  });

  test('a constraint that was created later is found by its name', async () => {
    await gateway.database.query('alter table member add constraint member_email_key unique (email)');
    await gateway.database.query("insert into member (email) values ('late@example.com')");
    await gateway.database.query('drop index member_lower_idx');
    expect(await post('add-member', { email: 'late@example.com' })).toEqual({
      status: 409,
      errors: one('/email', 'unique', 'This value is already in use.'),
    });
  });
});

test('a field of a composite parameter', async () => {
  const whole = await post('add-composite', { new: { email: null, clubId: 1 } });
  expect(whole.errors).toEqual(one('/new/email', 'not-null', 'A value is required.'));
  const separate = await post('add-composite', { newEmail: null, newClubId: 1 });
  expect(separate.errors).toEqual(one('/newEmail', 'not-null', 'A value is required.'));
  const refused = await post('add-composite', { new: { email: 'x', clubId: [1] } });
  expect(refused.errors).toEqual(
    one('/new/clubId', 'invalid', 'The parameter "new.clubId" takes integer, not a JSON array.'),
  );
  const several = await post('add-several', { new: [{ email: null }] });
  expect(several.errors).toEqual(one('/new', 'not-null', 'A value is required.'));
});

describe('a routine names a field', () => {
  test('by the column of RAISE', async () => {
    const refused = await post('refuse', { birthDate: '2020-01-01' });
    expect(refused).toEqual({ status: 422, errors: one('/birthDate', 'invalid', 'Too young') });
    const unique = await post('refuse', { birthDate: '2020-01-01', code: '23505' });
    expect(unique).toEqual({ status: 422, errors: one('/birthDate', 'unique', 'Too young') });
  });

  test('by a JSON Pointer', async () => {
    const refused = await post('refuse', { birthDate: '2020-01-01', column: '/items/0/n' });
    expect(refused).toEqual({ status: 422, errors: one('/items/0/n', 'invalid', 'Too young') });
  });

  test('without one, the problem has no errors and its own status', async () => {
    expect(await post('fail', {})).toEqual({ status: 400, errors: undefined });
  });
});

describe('a refused value names its parameter', () => {
  test.each([
    [
      'of the wrong type',
      { birthDate: 'x' },
      one('/birthDate', 'invalid', 'The parameter "birthDate" takes date, such as 2025-12-31.'),
    ],
    ['missing', {}, one('/birthDate', 'required', 'A value is required.')],
    ['unknown', { birthDate: '2020-01-01', 'x/y': 1 }, one('/x~1y', 'unknown', 'The endpoint has no such parameter.')],
  ])('%s', async (_, body, errors) => {
    expect(await post('refuse', body)).toEqual({ status: 422, errors });
  });
});

test('without the option, problems have no errors', async () => {
  expect(await post('without', {})).toEqual({ status: 400, errors: undefined });
});

test('for all endpoints, with hidden details: no text of PostgreSQL, no names of the database', async () => {
  const options = { fieldErrors: 422, returnGatewayExceptionMessage: false };
  const hiding = await startGateway(sql, options);
  onTestFinished(() => hiding.close());
  const { status, body } = await hiding.send('POST /api/without', { body: { email: 'Ada@example.com' } });
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: 422,
    body: {
      type: 'urn:pgway:problem:database-error',
      title: 'The database refused the request',
      status: 422,
      errors: one('/email', 'unique', 'This value is already in use.'),
      correlationId: expect.any(String) as string,
    },
  });
  const texts = await Promise.all([
    post('refuse', { birthDate: '2020-01-01' }, hiding),
    post('refuse', { birthDate: 'x' }, hiding),
    post('hide', { n: 1 }, hiding),
    post('add-member', { email: 'b', pBirthDate: '2030-01-01' }, hiding),
  ]);
  expect(texts).toEqual(
    [
      { status: 422, errors: one('/birthDate', 'invalid', 'This value is not valid.') },
      { status: 422, errors: one('/birthDate', 'invalid', 'This value is not valid.') },
      { status: 400, errors: one('', 'not-null', 'A value is required.') },
      { status: 400, errors: one('/pBirthDate', 'check', 'The date of birth is in the future.') },
    ].map((expected) => ({ ...expected, status: 422 })),
  );
});

describe('tables', () => {
  const tables = useGateway(
    `create table item (id int primary key, short_name varchar(3), n int constraint n_is_positive check (n > 0));
     comment on constraint n_is_positive on item is 'field = short_name';
     comment on table item is 'HTTP';`,
    { routineSources: [crudSource()], fieldErrors: true },
  );
  const insert = (body: unknown) => put(tables, body);
  test('a value that is longer than its column', async () => {
    const errors = one('/shortName', 'too-long', 'This value is too long.');
    expect(await insert({ id: 1, shortName: 'four' })).toEqual({ status: 400, errors });
  });
  test('a comment may name a field only', async () => {
    const errors = one('/shortName', 'check', 'This value is not allowed.');
    expect(await insert({ id: 1, shortName: 'abc', n: 0 })).toEqual({ status: 400, errors });
  });
});

async function put(to: typeof gateway, body: unknown) {
  const response = await to.send('PUT /api/item', { body });
  const { errors } = JSON.parse(response.body || '{}') as { errors?: unknown };
  return { status: response.status, errors };
}
