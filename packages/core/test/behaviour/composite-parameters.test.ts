import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** Parameters of a composite or table row type: one key per field, or one object in a JSON body. */

const gateway = useGateway(`
  create schema hidden;
  create type hidden.point as (x_pos int, y_pos numeric);
  create type shape as (label text, corner hidden.point, tags text[], points hidden.point[], doc jsonb);
  create table pet (pet_id int, pet_name text);

  create function show_shape(_before int, _shape shape, _pet pet, _after text default 'end') returns jsonb
  language sql stable as $$ select jsonb_build_array(_before, to_jsonb(_shape), to_jsonb(_pet), _after) $$;
  comment on function show_shape is 'HTTP POST';

  create function name_pet(_pet pet) returns text language sql stable as $$ select _pet.pet_id || ':' || coalesce(_pet.pet_name, '-') $$;
  comment on function name_pet is 'HTTP GET';

  create function maybe_pet(_pet pet default null) returns boolean language sql stable as $$ select _pet is null $$;
  comment on function maybe_pet is 'HTTP POST';

  create function pets(_pets pet[]) returns text language sql stable
  as $$ select string_agg(p.pet_id || ':' || coalesce(p.pet_name, '-'), ' ' order by n) from unnest(_pets) with ordinality as p(pet_id, pet_name, n) $$;
  comment on function pets is 'HTTP POST';
`);

async function post(path: string, body: unknown) {
  const answer = await gateway.send(`POST ${path}`, { body });
  return { status: answer.status, body: answer.body };
}

const hostile = 'a "quoted", (bracketed) \\ back\nslash {brace} NULL';

describe('one object under the name of the parameter', () => {
  test('nested objects, arrays and documents inside, by converted or original names', async () => {
    const { status, body } = await post('/api/show-shape', {
      before: 1,
      shape: {
        label: hostile,
        corner: { xPos: 3, y_pos: 12345678901234.5 },
        tags: ['a', null, hostile, ''],
        points: [{ xPos: 1, yPos: 2 }, null, { xPos: null }],
        doc: { deep: [1, { x: hostile }] },
      },
      pet: { petId: 7, petName: null },
    });
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 200,
      body: [
        1,
        {
          label: hostile,
          corner: { x_pos: 3, y_pos: 12345678901234.5 },
          tags: ['a', null, hostile, ''],
          points: [{ x_pos: 1, y_pos: 2 }, null, { x_pos: null, y_pos: null }],
          doc: { deep: [1, { x: hostile }] },
        },
        { pet_id: 7, pet_name: null },
        'end',
      ],
    });
  });

  test('fields that are left out are NULL, an empty text is not', async () => {
    expect(
      (await gateway.send('POST /api/pets', { body: { pets: [{ petId: 1 }, { petId: 2, petName: '' }] } })).body,
    ).toBe('1:- 2:');
  });

  test('null is NULL as a whole', async () => {
    expect((await post('/api/maybe-pet', { pet: null })).body).toBe('true');
    expect((await post('/api/maybe-pet', { pet: { petId: 1, petName: 'x' } })).body).toBe('false');
  });

  test('numbers keep their digits', async () => {
    const { body } = await gateway.send('POST /api/show-shape', {
      headers: { 'content-type': 'application/json' },
      body: '{"before":1,"shape":{"corner":{"yPos":12345678901234567890.123456789}},"pet":null}',
    });
    expect(body).toContain('"y_pos": 12345678901234567890.123456789');
  });

  test('an unknown field is 400 and named with those that there are', async () => {
    const { status, body } = await post('/api/maybe-pet', { pet: { petId: 1, nmae: 'x' } });
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 400,
      body: {
        type: 'urn:pgway:problem:unknown-parameter',
        title: 'The request has an unknown parameter',
        status: 400,
        detail: '"nmae" is not a field of "pet", which has "petId", "petName".',
        unknown: ['pet.nmae'],
      },
    });
  });

  test('an array is no object', async () => {
    expect((await post('/api/maybe-pet', { pet: [1, 'x'] })).status).toBe(400);
  });
});

describe('one key per field', () => {
  test('in a JSON body, among other parameters, several composites at once', async () => {
    const { status, body } = await post('/api/show-shape', {
      before: 1,
      petPetId: 7,
      _pet_pet_name: 'Rex',
      shapeLabel: 'l',
      shapeCorner: { xPos: 1, yPos: 2 },
      shapeTags: ['t'],
      shapePoints: null,
      shapeDoc: null,
      after: 'z',
    });
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 200,
      body: [
        1,
        { label: 'l', corner: { x_pos: 1, y_pos: 2 }, tags: ['t'], points: null, doc: null },
        { pet_id: 7, pet_name: 'Rex' },
        'z',
      ],
    });
  });

  test('in a query string', async () => {
    expect((await gateway.send('GET /api/name-pet?petPetId=1&petPetName=Rex')).body).toBe('1:Rex');
    expect((await gateway.send('GET /api/name-pet?petPetId=1&petPetName=')).body).toBe('1:');
    expect(await gateway.send('GET /api/name-pet?pet_pet_id=1').then(({ status }) => status)).toBe(400);
  });

  test('a field that is missing is 400 and named', async () => {
    const { status, body } = await gateway.send('GET /api/name-pet?petPetId=1');
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 400,
      body: {
        type: 'urn:pgway:problem:missing-parameter',
        title: 'A required parameter is missing',
        status: 400,
        detail: 'Missing in the query string: "petPetName" (text).',
        missing: ['petPetName'],
      },
    });
  });

  test('both ways at once is 400', async () => {
    expect((await post('/api/maybe-pet', { pet: { petId: 1 }, petPetId: 2 })).status).toBe(400);
  });

  test('a value that the type of a field refuses is 400 and names the parameter', async () => {
    const { status, body } = await gateway.send('GET /api/name-pet?petPetId=x&petPetName=y');
    expect({ status, body: JSON.parse(body) as unknown }).toMatchObject({
      status: 400,
      body: { title: 'invalid input syntax for type integer: "x"', parameters: ['pet'] },
    });
  });

  test('the message repeats 500 characters of such a value, and no half of one', async () => {
    const before = 'invalid input syntax for type integer: "';
    const shown = 'x'.repeat(499 - before.length);
    const { body } = await gateway.send(
      `GET /api/name-pet?petPetId=${shown}${encodeURIComponent('😀😀')}&petPetName=y`,
    );
    expect(JSON.parse(body)).toMatchObject({ title: `${before}${shown}…` });
  });

  test('none of them, with a default: the default', async () => {
    expect((await post('/api/maybe-pet', {})).body).toBe('true');
  });
});
