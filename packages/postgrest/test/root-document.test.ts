import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { startGateway, useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { schemaErrors } from '../../generators/test/open-api-validators.ts';
import { ask, postgrest } from './support.ts';

/** Roles belong to the whole server: their names are unique. */
const suffix = randomBytes(4).toString('hex');
const [anon, clerk] = [`anon_${suffix}`, `clerk_${suffix}`];
const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';

async function sign(claims: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, string>>> {
  const jwt = new SignJWT({ exp: 4_000_000_000, iss: 'https://id.example.com', aud: 'pgway', sub: 'ann', ...claims });
  return {
    authorization: `Bearer ${await jwt.setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(new TextEncoder().encode(secret))}`,
  };
}

const gateway = useGateway(
  `
  create role ${anon}; create role ${clerk}; grant ${anon}, ${clerk} to current_user;
  create schema shop; create schema archive; create schema closed;
  grant usage on schema shop to ${anon}; grant usage on schema shop, archive to ${clerk};
  create type shop.size as enum ('S', 'L');
  create table shop.maker (id int primary key, name text not null, tax_id text);
  create table shop.item (
    id int generated always as identity primary key, maker_id int references shop.maker, name text not null, size shop.size,
    price numeric, tags text[], facts jsonb, cost numeric);
  comment on table shop.item is 'What we sell
All of it';
  create table shop.secret (id int primary key);
  create table shop.members_only (id int primary key);
  comment on table shop.members_only is 'authorize';
  create table shop.bosses_only (id int primary key);
  comment on table shop.bosses_only is 'authorize boss';
  create table shop.hidden (id int primary key);
  comment on table shop.hidden is 'internal';
  create table archive.item (id int primary key);
  create table closed.item (id int primary key);
  grant select (id, name, maker_id, price) on shop.item to ${anon};
  grant select (id, name), insert (name), update (name), delete on shop.maker to ${clerk};
  grant select, insert on shop.item to ${clerk};
  grant select on shop.members_only, shop.bosses_only, shop.hidden to ${anon}, ${clerk};
  grant select on archive.item, closed.item to ${clerk}, ${anon};
  create function shop.price_of(item int, size shop.size default 'S', variadic codes text[] default '{}') returns numeric
    language sql stable as 'select 1.0';
  create function shop.restock(item int) returns void language sql as '';
  create function shop.over(a int) returns int language sql stable as 'select 1';
  create function shop.over(b text) returns int language sql stable as 'select 2';
  revoke execute on all functions in schema shop from public;
  grant execute on function shop.price_of, shop.over(text) to ${anon};
  grant execute on function shop.restock to ${clerk};
  `,
  {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
    includeSchemas: ['shop', 'archive', 'closed'],
    authentication: {
      jwt: { keys: [{ secret }], issuer: ['https://id.example.com'], audience: ['pgway'], claims: { roles: 'roles' } },
      databaseRole: { claim: 'role', anonymous: anon },
    },
  },
);

// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
async function documentOf(headers: Readonly<Record<string, string>> = {}): Promise<any> {
  const response = await gateway.send('GET /rest/', { headers });
  expect(response.status).toBe(200);
  const document = JSON.parse(response.body);
  expect(await schemaErrors(document)).toEqual([]);
  return document;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
function methodsOf({ paths }: any): readonly string[] {
  return Object.entries(paths as Record<string, object>).map(
    ([path, item]) => `${path} ${Object.keys(item).join(' ')}`,
  );
}

test('an anonymous caller sees the tables, columns and functions that its role may use', async () => {
  const document = await documentOf();
  expect(methodsOf(document)).toEqual(['/ get', '/item get', '/rpc/over get post', '/rpc/price_of get post']);
  expect(document).toMatchInlineSnapshot(`
    {
      "basePath": "/rest",
      "consumes": [
        "application/json",
        "application/vnd.pgrst.object+json;nulls=stripped",
        "application/vnd.pgrst.object+json",
        "text/csv",
      ],
      "definitions": {
        "item": {
          "description": "What we sell
    All of it",
          "properties": {
            "id": {
              "description": "Note:
    This is a Primary Key.<pk/>",
              "format": "integer",
              "type": "integer",
            },
            "maker_id": {
              "format": "integer",
              "type": "integer",
            },
            "name": {
              "format": "text",
              "type": "string",
            },
            "price": {
              "format": "numeric",
              "type": "number",
            },
          },
          "required": [
            "id",
            "name",
          ],
          "type": "object",
        },
      },
      "externalDocs": {
        "description": "PostgREST Documentation",
        "url": "https://postgrest.org/en/v16/references/api.html",
      },
      "info": {
        "description": "What the caller may do in the schema shop",
        "title": "shop",
        "version": "1.0.0",
      },
      "parameters": {
        "body.item": {
          "description": "item",
          "in": "body",
          "name": "item",
          "required": false,
          "schema": {
            "$ref": "#/definitions/item",
          },
        },
        "limit": {
          "description": "Limiting and Pagination",
          "in": "query",
          "name": "limit",
          "required": false,
          "type": "string",
        },
        "offset": {
          "description": "Limiting and Pagination",
          "in": "query",
          "name": "offset",
          "required": false,
          "type": "string",
        },
        "on_conflict": {
          "description": "On Conflict",
          "in": "query",
          "name": "on_conflict",
          "required": false,
          "type": "string",
        },
        "order": {
          "description": "Ordering",
          "in": "query",
          "name": "order",
          "required": false,
          "type": "string",
        },
        "preferCount": {
          "description": "Preference",
          "enum": [
            "count=none",
            "count=exact",
            "count=planned",
            "count=estimated",
          ],
          "in": "header",
          "name": "Prefer",
          "required": false,
          "type": "string",
        },
        "preferParams": {
          "description": "Preference",
          "in": "header",
          "name": "Prefer",
          "required": false,
          "type": "string",
        },
        "preferPost": {
          "description": "Preference",
          "enum": [
            "return=representation",
            "return=minimal",
            "return=none",
            "resolution=ignore-duplicates",
            "resolution=merge-duplicates",
          ],
          "in": "header",
          "name": "Prefer",
          "required": false,
          "type": "string",
        },
        "preferReturn": {
          "description": "Preference",
          "enum": [
            "return=representation",
            "return=minimal",
            "return=none",
          ],
          "in": "header",
          "name": "Prefer",
          "required": false,
          "type": "string",
        },
        "range": {
          "description": "Limiting and Pagination",
          "in": "header",
          "name": "Range",
          "required": false,
          "type": "string",
        },
        "rangeUnit": {
          "default": "items",
          "description": "Limiting and Pagination",
          "in": "header",
          "name": "Range-Unit",
          "required": false,
          "type": "string",
        },
        "rowFilter.item.id": {
          "description": "integer",
          "in": "query",
          "name": "id",
          "required": false,
          "type": "string",
        },
        "rowFilter.item.maker_id": {
          "description": "integer",
          "in": "query",
          "name": "maker_id",
          "required": false,
          "type": "string",
        },
        "rowFilter.item.name": {
          "description": "text",
          "in": "query",
          "name": "name",
          "required": false,
          "type": "string",
        },
        "rowFilter.item.price": {
          "description": "numeric",
          "in": "query",
          "name": "price",
          "required": false,
          "type": "string",
        },
        "select": {
          "description": "Filtering Columns",
          "in": "query",
          "name": "select",
          "required": false,
          "type": "string",
        },
      },
      "paths": {
        "/": {
          "get": {
            "produces": [
              "application/openapi+json",
              "application/json",
            ],
            "responses": {
              "200": {
                "description": "OK",
              },
            },
            "summary": "OpenAPI description (this document)",
            "tags": [
              "Introspection",
            ],
          },
        },
        "/item": {
          "get": {
            "description": "All of it",
            "parameters": [
              {
                "$ref": "#/parameters/rowFilter.item.id",
              },
              {
                "$ref": "#/parameters/rowFilter.item.maker_id",
              },
              {
                "$ref": "#/parameters/rowFilter.item.name",
              },
              {
                "$ref": "#/parameters/rowFilter.item.price",
              },
              {
                "$ref": "#/parameters/select",
              },
              {
                "$ref": "#/parameters/order",
              },
              {
                "$ref": "#/parameters/range",
              },
              {
                "$ref": "#/parameters/rangeUnit",
              },
              {
                "$ref": "#/parameters/offset",
              },
              {
                "$ref": "#/parameters/limit",
              },
              {
                "$ref": "#/parameters/preferCount",
              },
            ],
            "responses": {
              "200": {
                "description": "OK",
                "schema": {
                  "items": {
                    "$ref": "#/definitions/item",
                  },
                  "type": "array",
                },
              },
              "206": {
                "description": "Partial Content",
              },
            },
            "summary": "What we sell",
            "tags": [
              "item",
            ],
          },
        },
        "/rpc/over": {
          "get": {
            "parameters": [
              {
                "format": "text",
                "in": "query",
                "name": "b",
                "required": true,
                "type": "string",
              },
            ],
            "produces": [
              "application/json",
              "application/vnd.pgrst.object+json;nulls=stripped",
              "application/vnd.pgrst.object+json",
            ],
            "responses": {
              "200": {
                "description": "OK",
              },
            },
            "tags": [
              "(rpc) over",
            ],
          },
          "post": {
            "parameters": [
              {
                "in": "body",
                "name": "args",
                "required": true,
                "schema": {
                  "properties": {
                    "b": {
                      "format": "text",
                      "type": "string",
                    },
                  },
                  "required": [
                    "b",
                  ],
                  "type": "object",
                },
              },
              {
                "$ref": "#/parameters/preferParams",
              },
            ],
            "produces": [
              "application/json",
              "application/vnd.pgrst.object+json;nulls=stripped",
              "application/vnd.pgrst.object+json",
            ],
            "responses": {
              "200": {
                "description": "OK",
              },
            },
            "tags": [
              "(rpc) over",
            ],
          },
        },
        "/rpc/price_of": {
          "get": {
            "parameters": [
              {
                "format": "integer",
                "in": "query",
                "name": "item",
                "required": true,
                "type": "integer",
              },
              {
                "enum": [
                  "S",
                  "L",
                ],
                "format": "shop.size",
                "in": "query",
                "name": "size",
                "required": false,
                "type": "string",
              },
              {
                "collectionFormat": "multi",
                "in": "query",
                "items": {
                  "format": "text",
                  "type": "string",
                },
                "name": "codes",
                "required": false,
                "type": "array",
              },
            ],
            "produces": [
              "application/json",
              "application/vnd.pgrst.object+json;nulls=stripped",
              "application/vnd.pgrst.object+json",
            ],
            "responses": {
              "200": {
                "description": "OK",
              },
            },
            "tags": [
              "(rpc) price_of",
            ],
          },
          "post": {
            "parameters": [
              {
                "in": "body",
                "name": "args",
                "required": true,
                "schema": {
                  "properties": {
                    "codes": {
                      "format": "text[]",
                      "items": {
                        "type": "string",
                      },
                      "type": "array",
                    },
                    "item": {
                      "format": "integer",
                      "type": "integer",
                    },
                    "size": {
                      "enum": [
                        "S",
                        "L",
                      ],
                      "format": "shop.size",
                      "type": "string",
                    },
                  },
                  "required": [
                    "item",
                  ],
                  "type": "object",
                },
              },
              {
                "$ref": "#/parameters/preferParams",
              },
            ],
            "produces": [
              "application/json",
              "application/vnd.pgrst.object+json;nulls=stripped",
              "application/vnd.pgrst.object+json",
            ],
            "responses": {
              "200": {
                "description": "OK",
              },
            },
            "tags": [
              "(rpc) price_of",
            ],
          },
        },
      },
      "produces": [
        "application/json",
        "application/vnd.pgrst.object+json;nulls=stripped",
        "application/vnd.pgrst.object+json",
        "text/csv",
      ],
      "swagger": "2.0",
    }
  `);
});

test('another role sees what it may use, writes of columns among it', async () => {
  const document = await documentOf(await sign({ role: clerk }));
  expect(methodsOf(document)).toEqual([
    '/ get',
    '/item get post',
    '/maker get post delete patch',
    '/members_only get',
    '/rpc/restock get post',
  ]);
  expect(document.definitions.maker).toMatchInlineSnapshot(`
    {
      "properties": {
        "id": {
          "description": "Note:
    This is a Primary Key.<pk/>",
          "format": "integer",
          "type": "integer",
        },
        "name": {
          "format": "text",
          "type": "string",
        },
      },
      "required": [
        "id",
        "name",
      ],
      "type": "object",
    }
  `);
  expect(document.definitions.item.properties.maker_id.description).toMatchInlineSnapshot(`
    "Note:
    This is a Foreign Key to \`maker.id\`.<fk table='maker' column='id'/>"
  `);
});

test('a table with a role of its comment is shown to its callers', async () => {
  const boss = await documentOf(await sign({ role: clerk, roles: ['boss'] }));
  expect(Object.keys(boss.definitions)).toEqual(['bosses_only', 'item', 'maker', 'members_only']);
});

test('the header of a schema', async () => {
  const headers = await sign({ role: clerk });
  const document = await documentOf({ ...headers, 'accept-profile': 'archive' });
  expect(methodsOf(document)).toEqual(['/ get', '/item get']);
  const response = await gateway.send('GET /rest/', { headers: { ...headers, 'accept-profile': 'archive' } });
  expect(response.headers.get('content-profile')).toBe('archive');
  // Its role has no USAGE.
  expect(methodsOf(await documentOf({ ...headers, 'accept-profile': 'closed' }))).toEqual(['/ get']);
  expect(methodsOf(await documentOf({ 'accept-profile': 'archive' }))).toEqual(['/ get']);
  expect(await ask(gateway, 'GET /rest/', { headers: { 'accept-profile': 'none' } })).toMatchInlineSnapshot(`
    "406
    content-type: application/json; charset=utf-8

    {"code":"PGRST106","message":"Invalid schema: none","details":null,"hint":"Only the following schemas are exposed: shop, archive, closed"}"
  `);
});

test.each([
  ['GET /rest', undefined, 200, 'application/openapi+json; charset=utf-8'],
  ['GET /rest/', '*/*', 200, 'application/openapi+json; charset=utf-8'],
  ['GET /rest/', 'application/openapi+json', 200, 'application/openapi+json; charset=utf-8'],
  ['GET /rest/', 'application/json', 200, 'application/json; charset=utf-8'],
  ['GET /rest/', 'text/html, application/json;q=0.9', 200, 'application/json; charset=utf-8'],
  ['HEAD /rest/', 'application/json', 200, 'application/json; charset=utf-8'],
  ['GET /rest/', 'text/csv', 406, 'application/json; charset=utf-8'],
  ['POST /rest/', undefined, 405, 'application/json; charset=utf-8'],
])('%s with Accept %s: %s', async (line, accept, status, type) => {
  const response = await gateway.send(line, { headers: accept === undefined ? {} : { accept } });
  expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
});

test('a media type that the document does not have, and HEAD', async () => {
  expect(await ask(gateway, 'GET /rest/', { headers: { accept: 'text/csv' } })).toMatchInlineSnapshot(`
    "406
    content-type: application/json; charset=utf-8

    {"code":"PGRST107","message":"None of these media types are available: text/csv","details":null,"hint":null}"
  `);
  expect((await gateway.send('HEAD /rest/')).body).toBe('');
});

describe('names that have a meaning in JSON, paths and markup', () => {
  const hostile = useGateway(
    `create table "a.b" ("c" int primary key);
     create table a ("b.c" int references "a.b", id int primary key, "__proto__" int, "select" int, "x'/><script>" int);
     create table "__proto__" (id int primary key);
     create table "b-c.d" (id int primary key, up int references a);
     create function "__proto__"("a""b" int, "constructor" text) returns int language sql stable as 'select 1';`,
    { ...postgrest(), routineSources: [functionsSource(), postgrestSource()] },
  );

  test('the document is valid', async () => {
    const response = await hostile.send('GET /rest/');
    const document = JSON.parse(response.body);
    expect(await schemaErrors(document)).toEqual([]);
    expect(methodsOf(document)).toMatchInlineSnapshot(`
      [
        "/ get",
        "/__proto__ get post delete patch",
        "/a get post delete patch",
        "/a.b get post delete patch",
        "/b-c.d get post delete patch",
        "/rpc/__proto__ get post",
      ]
    `);
    expect(Object.keys(document.parameters).filter((name) => name.includes('.'))).toMatchInlineSnapshot(`
      [
        "body.__proto__",
        "rowFilter.__proto__.id",
        "body.a",
        "rowFilter.a.b:.c",
        "rowFilter.a.id",
        "rowFilter.a.__proto__",
        "rowFilter.a.x'/><script>",
        "body.a.b",
        "rowFilter.a:.b.c",
        "body.b-c.d",
        "rowFilter.b-c:.d.id",
        "rowFilter.b-c:.d.up",
      ]
    `);
    expect(document.definitions['b-c.d']).toMatchInlineSnapshot(`
      {
        "properties": {
          "id": {
            "description": "Note:
      This is a Primary Key.<pk/>",
            "format": "integer",
            "type": "integer",
          },
          "up": {
            "description": "Note:
      This is a Foreign Key to \`a.id\`.<fk table='a' column='id'/>",
            "format": "integer",
            "type": "integer",
          },
        },
        "required": [
          "id",
        ],
        "type": "object",
      }
    `);
  });
});

test('references to names that the validator does not take are JSON Pointers, and notes have no markup of names', async () => {
  const started = await startGateway(
    `create table "%41\\x%" (id int primary key, "100%" int, "\\" int);
     create table "{p}/~1?#'<b>" (id int primary key);
     create table reference (up int references "{p}/~1?#'<b>");`,
    postgrest(),
  );
  onTestFinished(() => started.close());
  const document = JSON.parse((await started.send('GET /rest/')).body);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":("[^"]*")/g)].map(([, text]) => JSON.parse(text!));
  const resolved = references.map((reference: string) =>
    reference
      .slice(2)
      .split('/')
      .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'))
      // oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
      .reduce((value: any, name) => value?.[name], document),
  );
  expect(references.length).toBeGreaterThan(10);
  expect(resolved).not.toContain(undefined);
  expect(document.definitions.reference.properties.up.description).toMatchInlineSnapshot(`undefined`);
});

describe('tables of signed-in callers only', () => {
  const closed = useGateway(`create table t (id int); comment on table t is 'authorize'`, postgrest());

  test('the document is for signed-in callers only', async () => {
    expect((await closed.send('GET /rest/')).status).toBe(401);
  });
});

describe('the dialect at the root', () => {
  const rooted = useGateway('create table t (id int primary key)', postgrest({ path: '/' }));

  test('the document is at /, with its tables below', async () => {
    const document = JSON.parse((await rooted.send('GET /')).body);
    expect([document.basePath, methodsOf(document)]).toEqual(['/', ['/ get', '/t get post delete patch']]);
    expect((await rooted.send('GET /t')).body).toBe('[]');
  });
});

test('a document is made once for callers with the same privileges, and again after a reload', async () => {
  const own = await startGateway('create table film (id int primary key)', postgrest());
  onTestFinished(() => own.close());
  const read = async (): Promise<string> => (await own.send('GET /rest/')).body;
  const first = await read();
  const stringify = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => stringify.mockRestore());
  const isMade = (): boolean =>
    stringify.mock.calls.some(
      ([value]: readonly unknown[]) => (value as { swagger?: string } | null)?.swagger === '2.0',
    );
  expect([await read(), isMade()]).toEqual([first, false]);
  await own.database.query('create table actor (id int primary key)');
  await own.gateway.refresh();
  expect([Object.keys(JSON.parse(await read()).definitions), isMade()]).toEqual([['actor', 'film'], true]);
});

describe('facts of the catalog', () => {
  const described = useGateway(
    `
    create schema stock;
    comment on schema stock is 'Stock of the shop

What is there,
and where';
    create type stock.state as enum ('new', 'used');
    create table stock.place (id int primary key);
    create table stock.thing (
      id int generated always as identity primary key,
      place_id int references stock.place,
      code varchar(20) not null default 'it''s',
      letter char(1),
      bits bit varying(8),
      price numeric(8, 2) default 42.5,
      change int default -1,
      sold boolean default false,
      since date default '1900-01-01',
      seen timestamptz default now(),
      state stock.state default 'new',
      names text[] default '{}',
      codes varchar(3)[],
      states stock.state[],
      facts json default '{}');
    comment on table stock.thing is 'Things';
    comment on column stock.thing.id is 'Its number';
    comment on column stock.thing.place_id is 'Where it is';
    comment on column stock.thing.code is 'Printed on it';
    create view stock.used as select id, code from stock.thing;
    create view stock.stored as select id as thing, place_id as location from stock.thing;
    create view stock.locality as select id as number from stock.place;
    create schema unpublished;
    create table unpublished.owner (id int primary key);
    create table stock.deed (id int primary key, owner_id int references unpublished.owner);
    create view stock.holder as select id from unpublished.owner;
    comment on column stock.used.code is 'Printed on a used one';
    create function stock.move(thing int, place int) returns void language sql as '';
    comment on function stock.move is 'Moves a thing

At once';
    create schema empty; create table empty.thing (id int);
    `,
    {
      routineSources: [functionsSource(), postgrestSource()],
      commentsMode: 'parseAll',
      includeSchemas: ['stock', 'empty'],
    },
  );

  // oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
  async function readDocument(headers: Readonly<Record<string, string>> = {}): Promise<any> {
    const document = JSON.parse((await described.send('GET /rest/', { headers })).body);
    expect(await schemaErrors(document)).toEqual([]);
    return document;
  }

  test('the comment of a schema is the title and description of its document', async () => {
    const { info, externalDocs } = await readDocument();
    expect(info).toEqual({
      title: 'Stock of the shop',
      description: 'What is there,\nand where',
      version: '1.0.0',
    });
    expect(externalDocs).toEqual({
      description: 'PostgREST Documentation',
      url: 'https://postgrest.org/en/v16/references/api.html',
    });
    expect((await readDocument({ 'accept-profile': 'empty' })).info).toEqual({
      title: 'empty',
      description: 'What the caller may do in the schema empty',
      version: '1.0.0',
    });
  });

  test('columns of views have the foreign keys that they show; a view stands for a table that is not published', async () => {
    const { definitions } = await readDocument();
    const note = (table: string, key: string): string =>
      `Note:\nThis is a Foreign Key to \`${table}.${key}\`.<fk table='${table}' column='${key}'/>`;
    // The table, not its view.
    expect(definitions.stored.properties.location.description).toBe(note('place', 'id'));
    expect(definitions.thing.properties.place_id.description).toContain(note('place', 'id'));
    expect(definitions.deed.properties.owner_id.description).toBe(note('holder', 'id'));
  });

  test('columns have their comments, longest values, and defaults that are constants', async () => {
    const { definitions, parameters } = await readDocument();
    expect(definitions.thing).toMatchInlineSnapshot(`
      {
        "description": "Things",
        "properties": {
          "bits": {
            "format": "bit varying",
            "maxLength": 8,
            "type": "string",
          },
          "change": {
            "default": -1,
            "format": "integer",
            "type": "integer",
          },
          "code": {
            "default": "it's",
            "description": "Printed on it",
            "format": "character varying",
            "maxLength": 20,
            "type": "string",
          },
          "codes": {
            "format": "character varying[]",
            "items": {
              "type": "string",
            },
            "type": "array",
          },
          "facts": {
            "format": "json",
          },
          "id": {
            "description": "Its number

      Note:
      This is a Primary Key.<pk/>",
            "format": "integer",
            "type": "integer",
          },
          "letter": {
            "format": "character",
            "maxLength": 1,
            "type": "string",
          },
          "names": {
            "format": "text[]",
            "items": {
              "type": "string",
            },
            "type": "array",
          },
          "place_id": {
            "description": "Where it is

      Note:
      This is a Foreign Key to \`place.id\`.<fk table='place' column='id'/>",
            "format": "integer",
            "type": "integer",
          },
          "price": {
            "default": 42.5,
            "format": "numeric",
            "type": "number",
          },
          "seen": {
            "format": "timestamp with time zone",
            "type": "string",
          },
          "since": {
            "default": "1900-01-01",
            "format": "date",
            "type": "string",
          },
          "sold": {
            "default": false,
            "format": "boolean",
            "type": "boolean",
          },
          "state": {
            "default": "new",
            "enum": [
              "new",
              "used",
            ],
            "format": "stock.state",
            "type": "string",
          },
          "states": {
            "format": "stock.state[]",
            "items": {
              "enum": [
                "new",
                "used",
              ],
              "type": "string",
            },
            "type": "array",
          },
        },
        "required": [
          "id",
          "code",
        ],
        "type": "object",
      }
    `);
    expect(definitions.used.properties.code).toMatchInlineSnapshot(`
      {
        "default": "it's",
        "description": "Printed on a used one",
        "format": "character varying",
        "maxLength": 20,
        "type": "string",
      }
    `);
    expect(parameters['rowFilter.thing.code'].description).toBe('Printed on it');
    expect(parameters['rowFilter.thing.letter'].description).toBe('character(1)');
  });

  test('the arguments of a function have its comment', async () => {
    const { paths } = await readDocument();
    const { summary, description, parameters } = paths['/rpc/move'].post;
    expect({ summary, description, arguments: parameters[0].schema.description }).toEqual({
      summary: 'Moves a thing',
      description: 'At once',
      arguments: 'Moves a thing\n\nAt once',
    });
  });

  test('a changed comment is in the next document', async () => {
    await described.database.query(`comment on schema empty is 'Nothing'`);
    onTestFinished(() => described.database.query('comment on schema empty is null').then(() => {}));
    expect((await readDocument({ 'accept-profile': 'empty' })).info.title).toBe('Nothing');
  });
});

describe('openApiMode and serverUrl', () => {
  const objects = `
    create table item (id int primary key, name text);
    create table boss (id int primary key);
    comment on table boss is 'authorize boss';
    create function restock() returns int language sql as 'select 1';
    revoke execute on function restock from public;
  `;
  const start = (options: Parameters<typeof postgrestSource>[0]) =>
    startGateway(objects, {
      routineSources: [functionsSource(), postgrestSource(options)],
      commentsMode: 'parseAll',
      authentication: {
        jwt: {
          keys: [{ secret }],
          issuer: ['https://id.example.com'],
          audience: ['pgway'],
          claims: { roles: 'roles' },
        },
        databaseRole: { claim: 'role', anonymous: anon },
      },
    });

  test('ignore-privileges describes all tables and functions, with the URL of the proxy', async () => {
    const all = await start({ openApiMode: 'ignore-privileges', serverUrl: 'https://api.example.org/v1/' });
    onTestFinished(() => all.close());
    const document = JSON.parse((await all.send('GET /rest/')).body);
    expect(await schemaErrors(document)).toEqual([]);
    expect(methodsOf(document)).toEqual([
      '/ get',
      '/boss get post delete patch',
      '/item get post delete patch',
      '/rpc/restock get post',
    ]);
    expect({ ...document, paths: {}, definitions: {}, parameters: {} }).toMatchObject({
      schemes: ['https'],
      host: 'api.example.org:443',
      basePath: '/v1/rest',
      securityDefinitions: { JWT: { in: 'header', name: 'Authorization', type: 'apiKey' } },
    });
    expect(document.paths['/boss'].get.security).toEqual([{ JWT: [] }]);
    expect(document.paths['/item'].get.security).toBeUndefined();
    expect(Object.keys(document.definitions.item.properties)).toEqual(['id', 'name']);
    // As in PostgREST: generated clients have the same arguments.
    expect(document.paths['/item'].post.parameters).toEqual([
      { $ref: '#/parameters/body.item' },
      { $ref: '#/parameters/select' },
      { $ref: '#/parameters/preferPost' },
    ]);
  });

  test('disabled has no document', async () => {
    const none = await start({ openApiMode: 'disabled' });
    onTestFinished(() => none.close());
    for (const path of ['/rest/', '/rest']) {
      expect(await ask(none, `GET ${path}`)).toMatchInlineSnapshot(`
        "404
        content-type: application/json; charset=utf-8

        {"code":"PGRST126","message":"Root endpoint metadata is disabled","details":null,"hint":null}"
      `);
    }
  });
});

describe('the path of the OpenAPI document', () => {
  const document = useGateway(
    `create function document() returns json stable begin atomic select json_build_object('swagger', '2.0'); end;
     comment on function document is E'HTTP GET /rest/\\nContent-Type: application/openapi+json';`,
    { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll' },
  );

  test('a function that has it responds in place of the document', async () => {
    const { status, headers, body } = await document.send('GET /rest/');
    expect([status, headers.get('content-type'), JSON.parse(body)]).toEqual([
      200,
      'application/openapi+json',
      { swagger: '2.0' },
    ]);
  });
});
