import { describedTables } from '@pgway/core/internal';
import { openApiDocument } from '@pgway/generators';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { complaints } from '../../../generators/test/open-api-validators.ts';

/* The OpenAPI document of tables, views and functions of the dialect. */

const gateway = useGateway(
  `
  create type mood as enum ('happy', 'sad "x"');
  create type spot as (x int, label text);
  create table director (id int generated always as identity primary key, name text not null, mood mood, home spot);
  create table film (
    id bigint generated always as identity primary key, title text not null, year int default 2000, tags text[] not null default '{}',
    facts jsonb, director_id int references director, "odd <b>name" numeric, "limit" int);
  comment on table film is 'Films that were shown';
  create view recent as select id, title from film where year > 1990;
  create table "a{b}?c d" (id int primary key);
  create table person (id int primary key, boss int references person);
  create table play (id int primary key, author int not null references person, actor int references person, person int);
  create function full_title(film) returns text language sql stable as $$ select $1.title $$;
  create function add(a int, b int default 1) returns int language sql immutable as 'select a + b';
  create function nothing() returns void language sql as '';
  create function search(text text) returns setof film language sql stable as 'select * from film';
  create function over(a int) returns text language sql as $$ select 'a' $$;
  create function over(b text) returns int language sql as $$ select 1 $$;
  create function echo(json) returns json language sql as 'select $1';
  create schema archive;
  create table archive.film (id int primary key, "Reason" text);
  `,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll' },
);

// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
const documentOf = (): any => openApiDocument(gateway.gateway.endpoints);

test('two validators accept the document', async () => {
  const document = documentOf();
  document.info.license = { name: 'MIT', identifier: 'MIT' };
  document.servers = [{ url: 'https://api.pgway.dev' }];
  expect(await complaints(document)).toEqual([]);
});

test('a table has its operations', () => {
  const { paths } = documentOf();
  expect(Object.keys(paths).filter((path) => path.startsWith('/rest/'))).toMatchInlineSnapshot(`
    [
      "/rest/director",
      "/rest/film",
      "/rest/person",
      "/rest/play",
      "/rest/recent",
      "/rest/rpc/add",
      "/rest/rpc/echo",
      "/rest/rpc/full_title",
      "/rest/rpc/nothing",
      "/rest/rpc/over",
      "/rest/rpc/search",
    ]
  `);
  expect(Object.keys(paths['/rest/film'])).toEqual(['get', 'post', 'put', 'patch', 'delete']);
  const { get } = paths['/rest/film'];
  expect(get.description).toMatchInlineSnapshot(`
    "Films that were shown

    The rows that meet all filters. A filter is "&lt;operator>.&lt;value>", with an optional "not." before it, as in "gte.5", "is.null" or "in.(1,2)". Operators: eq, neq, gt, gte, lt, lte, like, ilike, match, imatch, in, is, isdistinct, cs, cd, ov, sl, sr, nxr, nxl, adj, fts, plfts, phfts, wfts. Singular responses have one row, or are an error 406."
  `);
  expect(get.parameters.slice(0, 2)).toMatchInlineSnapshot(`
    [
      {
        "description": "The columns, separated by commas: all by default. "alias:column" renames, "column::text" casts, "column->key" reads JSON. Computed columns: full_title. Related rows, as in "director(*)": director.",
        "in": "query",
        "name": "select",
        "schema": {
          "examples": [
            "id,director(*)",
          ],
          "type": "string",
        },
      },
      {
        "description": "bigint: a filter, "&lt;operator>.&lt;value>"",
        "in": "query",
        "name": "id",
        "schema": {
          "examples": [
            "is.null",
          ],
          "type": "string",
        },
      },
    ]
  `);
  expect(get.parameters.map(({ name }: { name: string }) => name)).toMatchInlineSnapshot(`
    [
      "select",
      "id",
      "title",
      "year",
      "tags",
      "facts",
      "director_id",
      ""odd <b>name"",
      "and",
      "or",
      "order",
      "limit",
      "offset",
      "Range",
      "Accept-Profile",
      "Prefer",
      "Reason",
    ]
  `);
  const { post } = paths['/rest/film'];
  expect(Object.keys(post.responses)).toMatchInlineSnapshot(`
    [
      "200",
      "201",
      "300",
      "401",
      "403",
      "404",
      "409",
      "4XX",
      "default",
    ]
  `);
  expect(post.responses['4XX']).toMatchInlineSnapshot(`
    {
      "content": {
        "application/json": {
          "schema": {
            "$ref": "#/components/schemas/Error",
          },
        },
      },
      "description": "The request was refused: codes of PostgreSQL (SQLSTATE) and of the interface",
    }
  `);
  expect(paths['/rest/director'].patch.parameters.map(({ name }: { name: string }) => name)).toMatchInlineSnapshot(`
    [
      "select",
      "id",
      "name",
      "mood",
      "home",
      "and",
      "or",
      "order",
      "limit",
      "offset",
      "columns",
      "Content-Profile",
      "Prefer",
    ]
  `);
});

test('a function has its arguments', () => {
  const { paths } = documentOf();
  expect(paths['/rest/rpc/add'].get.parameters.slice(0, 2)).toMatchInlineSnapshot(`
    [
      {
        "description": "integer",
        "in": "query",
        "name": "a",
        "required": true,
        "schema": {
          "format": "int32",
          "type": "integer",
        },
      },
      {
        "description": "integer, default 1",
        "in": "query",
        "name": "b",
        "schema": {
          "format": "int32",
          "type": "integer",
        },
      },
    ]
  `);
  expect(paths['/rest/rpc/add'].post.requestBody).toMatchInlineSnapshot(`
    {
      "content": {
        "application/json": {
          "schema": {
            "additionalProperties": false,
            "properties": {
              "a": {
                "description": "integer",
                "format": "int32",
                "type": [
                  "integer",
                  "null",
                ],
              },
              "b": {
                "description": "integer, default 1",
                "format": "int32",
                "type": [
                  "integer",
                  "null",
                ],
              },
            },
            "required": [
              "a",
            ],
            "type": "object",
          },
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "additionalProperties": false,
            "properties": {
              "a": {
                "description": "integer",
                "format": "int32",
                "type": [
                  "integer",
                  "null",
                ],
              },
              "b": {
                "description": "integer, default 1",
                "format": "int32",
                "type": [
                  "integer",
                  "null",
                ],
              },
            },
            "required": [
              "a",
            ],
            "type": "object",
          },
        },
      },
      "required": true,
    }
  `);
  expect(paths['/rest/rpc/over'].post.requestBody).toMatchInlineSnapshot(`
    {
      "content": {
        "application/json": {
          "schema": {
            "anyOf": [
              {
                "additionalProperties": false,
                "properties": {
                  "a": {
                    "description": "integer",
                    "format": "int32",
                    "type": [
                      "integer",
                      "null",
                    ],
                  },
                },
                "required": [
                  "a",
                ],
                "type": "object",
              },
              {
                "additionalProperties": false,
                "properties": {
                  "b": {
                    "description": "text",
                    "type": [
                      "string",
                      "null",
                    ],
                  },
                },
                "required": [
                  "b",
                ],
                "type": "object",
              },
            ],
          },
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "anyOf": [
              {
                "additionalProperties": false,
                "properties": {
                  "a": {
                    "description": "integer",
                    "format": "int32",
                    "type": [
                      "integer",
                      "null",
                    ],
                  },
                },
                "required": [
                  "a",
                ],
                "type": "object",
              },
              {
                "additionalProperties": false,
                "properties": {
                  "b": {
                    "description": "text",
                    "type": [
                      "string",
                      "null",
                    ],
                  },
                },
                "required": [
                  "b",
                ],
                "type": "object",
              },
            ],
          },
        },
      },
      "required": true,
    }
  `);
  expect(paths['/rest/rpc/echo'].post.requestBody).toMatchInlineSnapshot(`
    {
      "content": {
        "application/json": {
          "schema": {},
        },
      },
      "required": true,
    }
  `);
});

test('each relation has a name and a selector', () => {
  const relations = describedTables(gateway.gateway.endpoints).flatMap(({ name, relations: own }) =>
    own.map((relation) => `${name}: ${relation.name} = ${relation.selector} (${relation.rows})`),
  );
  expect(relations).toMatchInlineSnapshot(`
    [
      "director: film = film (many)",
      "film: director = director (optional)",
      "person: person_by_boss = boss (optional)",
      "person: person = person (many)",
      "person: play_by_actor = play!actor (many)",
      "person: play_by_author = play!author (many)",
      "play: person_by_actor = person!actor (optional)",
      "play: person_by_author = person!author (one)",
    ]
  `);
});
