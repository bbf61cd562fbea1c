import { type GatewayOptions, StartError } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { problem, problemOf } from './support.ts';

/** `validate`: rules for the values of parameters. */

const rules: GatewayOptions['validationRules'] = {
  phone: { pattern: '^[+][0-9]{6,15}$', message: 'Not a phone number.' },
  short: { notEmpty: true, maxLength: 3 },
};

const sql = `
  create sequence ran;
  create function register(_email text, _password text default 'x', _zip text default null, _age int default null, _phone text default null,
    _tag text default null) returns text language sql volatile as $$
    select nextval('ran') || concat_ws('|', '', _email, _password, _zip, _age, _phone, _tag) $$;
  comment on function register is 'HTTP POST
@validate _email using required, email
validate password using required, min_length 8 max_length 12
validate _zip using pattern ^[0-9]{5}(, [A-Z]+)?$
validate _age using not_null
validate _phone using phone
validate _tag using short
Validate the order first.';

  create function fields(_email text, _name text default 'x') returns text language sql volatile as $$ select _email $$;
  comment on function fields is 'HTTP POST
field_errors 422
validate _email using email, max_length 20
validate _name using min_length 2';

  create function find(_text text) returns text language sql stable as $$ select _text $$;
  comment on function find is 'HTTP GET /api/find/{_text}
validate _text using min_length 2';

  create function hashed(_password text) returns text language sql volatile as $$ select left(_password, 3) $$;
  comment on function hashed is 'HTTP POST
param _password is hash of _password
validate _password using min_length 8';

  create function slow(_text text) returns text language sql volatile as $$ select 'slow' $$;
  comment on function slow is 'HTTP POST
validate _text using pattern ^(a+)+$';
`;

const gateway = useGateway(sql, {
  validationRules: rules,
  batchPath: '/api/batch',
  authentication: { schemes: [] },
});

const register = async (body: object): Promise<unknown> =>
  problem(
    await gateway.send('POST /api/register', { body: { email: 'ada@example.com', password: 'long enough', ...body } }),
  );

test('values that keep all rules reach the routine', async () => {
  const body = {
    email: 'a.b+c@mail.example.com',
    password: '🐢🐢🐢🐢🐢🐢🐢🐢',
    zip: '12345, ABC',
    age: 0,
    phone: '+123456',
    tag: 'abc',
  };
  const { status, body: text } = await gateway.send('POST /api/register', { body });
  expect([status, text]).toEqual([200, '1|a.b+c@mail.example.com|🐢🐢🐢🐢🐢🐢🐢🐢|12345, ABC|0|+123456|abc']);
});

test.each([
  [{ email: 'ada' }, 'email', 'This value is not an e-mail address.'],
  [{ email: '' }, 'email', 'A value is required.'],
  [{ email: null }, 'email', 'A value is required.'],
  [{ email: `a@${'b'.repeat(63)}.c\n` }, 'email', 'This value is not an e-mail address.'],
  [{ password: undefined }, 'password', 'A value is required.'],
  [{ password: '1234567' }, 'password', 'This value has fewer than 8 characters.'],
  [{ password: '1234567890123' }, 'password', 'This value has more than 12 characters.'],
  [{ zip: '1234' }, 'zip', 'This value does not have the expected form.'],
  [{ zip: '12345\n' }, 'zip', 'This value does not have the expected form.'],
  [{ age: null }, 'age', 'A value is required.'],
  [{ phone: '12' }, 'phone', 'Not a phone number.'],
  [{ tag: '' }, 'tag', 'A value is required.'],
  [{ tag: 'abcd' }, 'tag', 'This value has more than 3 characters.'],
])('%j is refused before the call', async (body, key, text) => {
  const before = await gateway.database.query('select last_value from ran');
  expect(await register({ age: 1, ...body })).toEqual(
    problemOf(400, {
      type: 'urn:pgway:problem:invalid-parameter',
      detail: `The parameter "${key}": ${text}`,
      parameters: [key],
    }),
  );
  expect(await gateway.database.query('select last_value from ran')).toEqual(before);
});

test('an omitted parameter that may not be NULL is refused when its default is NULL', async () => {
  expect(await register({})).toEqual(
    problemOf(400, { detail: 'The parameter "age": A value is required.', parameters: ['age'] }),
  );
});

test('all refused parameters are fields, in the order of the routine', async () => {
  const answer = await gateway.send('POST /api/fields', {
    body: { email: `${'a'.repeat(30)}@example.com`, name: 'b' },
  });
  expect(problem(answer)).toEqual(
    problemOf(422, {
      detail:
        'The parameter "email": This value has more than 20 characters. The parameter "name": This value has fewer than 2 characters.',
      parameters: ['email', 'name'],
      errors: [
        { pointer: '/email', code: 'too-long', detail: 'This value has more than 20 characters.' },
        { pointer: '/name', code: 'too-short', detail: 'This value has fewer than 2 characters.' },
      ],
    }),
  );
});

test('path parameters, batches and passwords before their hash', async () => {
  expect((await gateway.send('GET /api/find/a')).status).toBe(400);
  expect((await gateway.send('GET /api/find/ab')).body).toBe('ab');
  expect((await gateway.send('POST /api/hashed', { body: { password: 'short' } })).status).toBe(400);
  expect((await gateway.send('POST /api/hashed', { body: { password: 'long enough' } })).status).toBe(200);
  const batch = [{ method: 'POST', path: '/api/fields', body: { email: 'ada' } }];
  expect(problem(await gateway.send('POST /api/batch', { body: batch }))).toMatchObject({
    status: 422,
    problem: { pointer: '/0', errors: [{ pointer: '/email', code: 'invalid' }] },
  });
});

test('no text makes a pattern slow, and no pattern reads an endless text', async () => {
  const text = `${'a'.repeat(9_000)}!`;
  expect((await gateway.send('POST /api/slow', { body: { text } })).status).toBe(400);
  expect((await gateway.send('POST /api/slow', { body: { text: 'a'.repeat(9_000) } })).body).toBe('slow');
  expect(problem(await gateway.send('POST /api/slow', { body: { text: 'a'.repeat(10_001) } }))).toMatchObject({
    problem: { detail: 'The parameter "text": This value has more than 10000 characters.' },
  });
});

describe('mistakes', () => {
  const start = async (line: string): Promise<readonly string[]> => {
    const started = await startGateway(
      `create function f(_email text, _n int default null, _list text[] default null, _id text default null) returns int language sql as 'select 1';
       comment on function f is 'HTTP POST\nparam _id is user_id\n${line}';
       create table t (id int primary key);`,
      { validationRules: rules, logAnnotationSetInfo: false, authentication: { schemes: [] } },
    );
    onTestFinished(() => started.close());
    expect(started.gateway.endpoints).toEqual([]);
    return started.observations.flatMap((seen) =>
      seen.kind === 'diagnostic'
        ? [`${seen.diagnostic.severity} ${seen.diagnostic.line}: ${seen.diagnostic.message}`]
        : [],
    );
  };

  test.each([
    ['validate _email using pattern (', /^error 3: validate: the pattern "\(" is not valid: /],
    ['validate _email using pattern (?<=a)b', /^error 3: validate: the pattern "\(\?<=a\)b" is not valid: /],
    ['validate _email using pattern (a)\\1', /^error 3: validate: the pattern "\(a\)\\1" is not valid: /],
    ['validate _email using pattern', /pattern takes a regular expression/],
    ['validate _email using', /write validate <parameter> using <rule>/],
    ['validate _email required', /write validate <parameter> using <rule>/],
    ['@validate', /write validate <parameter> using <rule>/],
    ['validate _email using emial', /^error 3: validate: no rule is named "emial"; .*did you mean "email"\?$/],
    ['validate _email using min_length', /min_length takes a number of characters/],
    ['validate _email using min_length 8x', /min_length takes a number of characters/],
    ['validate _emial using required', /the routine has no parameter "_emial"; did you mean "_email"\?/],
    ['validate _n using max_length 3', /"_n" is of type integer, and lengths and patterns apply to texts/],
    ['validate _list using email', /"_list" is of type text\[\]/],
    ['validate _id using not_null', /the gateway sets "_id"/],
    ['validat _email using email', /did you mean validate/],
  ])('%s stops the endpoint', async (line, message) => {
    expect(await start(line)).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    [{ email: { minLength: 1 } }, 'validationRules.email: is the name of a built-in rule; use another name'],
    [{ phone: {} }, 'validationRules.phone: has no condition; add one, such as pattern or minLength'],
    [{ phone: { pattern: '(' } }, 'validationRules.phone.pattern: is not a valid pattern: '],
    [{ 'a b': { minLength: 1 } }, 'validationRules["a b"]: must be a name'],
  ])('the option %j stops the start', async (validationRules, message) => {
    const failed = startGateway('', { validationRules });
    await expect(failed).rejects.toThrow(StartError);
    await expect(failed).rejects.toThrow(message);
  });
});
