import { type McpTool, mcpTools, ToolArgumentError, type ToolRequest, toolRequest } from '@pgway/generators/internal';
import { crudSource } from '@pgway/core';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const hostile = readFileSync(new URL('./golden/hostile/setup.sql', import.meta.url), 'utf8');
const gateway = useGateway(
  `${hostile}
create type inner_type as (a int, b text[]);
create type outer_type as (x inner_type, ys inner_type[]);
create function deep(_value outer_type, _list outer_type[]) returns setof outer_type language sql
  as $$ select _value union all select unnest(_list) $$;
comment on function deep is 'HTTP POST
mcp';

create function "Größe! of $1"("weird key'" int, "ключ" text default 'x') returns int language sql immutable as $$ select 1 $$;
comment on function "Größe! of $1" is 'HTTP GET /odd
mcp';
create function "???"() returns int language sql immutable as $$ select 1 $$;
comment on function "???" is 'HTTP GET /marks
mcp';
create schema a; create schema b;
create function a.same() returns int language sql stable as $$ select 1 $$;
create function b.same() returns int language sql stable as $$ select 2 $$;
create function b.other() returns int language sql stable as $$ select 3 $$;
comment on function a.same is 'HTTP GET /a
mcp';
comment on function b.same is 'HTTP GET /b
mcp';
comment on function b.other is 'HTTP GET /c
mcp
mcp_name same
mcp_title The title';

create function over(_a int) returns int language sql stable as $$ select 1 $$;
create function over(_a int, _b text) returns int language sql stable as $$ select 2 $$;
comment on function over(int) is 'HTTP GET /over
mcp';
comment on function over(int, text) is 'HTTP GET /over';
create function twice(_a int) returns int language sql stable as $$ select 1 $$;
create function twice(_a text, _b text) returns int language sql volatile as $$ select 2 $$;
comment on function twice(int) is 'First.
HTTP GET /twice
mcp';
comment on function twice(text, text) is 'Second.
HTTP GET /twice
mcp';

create function bytes() returns bytea language sql stable as $$ select ''::bytea $$;
comment on function bytes is 'HTTP
mcp';
create function by_id(_id text, _rest text default null) returns text language sql stable as $$ select _id $$;
comment on function by_id is 'HTTP GET /things/{_id}/{_rest?}
mcp';
create function takes_list(_ids int[], _doc jsonb default null, _note text default null) returns int language sql stable as $$ select 1 $$;
comment on function takes_list is 'HTTP GET
mcp';
create function ruled(_a text default null, _b text default 'x') returns int language sql stable as $$ select 1 $$;
comment on function ruled is 'HTTP POST
mcp
validate _a using required, max_length 5
validate _b using email';
create function shown() returns setof int language sql stable as $$ select 1 $$;
comment on function shown is 'HTTP GET
mcp
table_format = html';
create function hinted() returns int language sql as $$ select 1 $$;
comment on function hinted is 'HTTP
mcp
mcp_hints read_only open_world';
create table item (id int generated always as identity primary key, label text);
comment on table item is 'HTTP
mcp';
create function misspelt() returns int language sql as $$ select 1 $$;
comment on function misspelt is 'HTTP
mcp = maybe
mcp_name no spaces
mcp_hints harmless
mcp_hints additive destructive';`,
  { sourcesCreated: (sources) => void sources.push(crudSource()) },
);

const list = (include: 'marked' | 'readOnly' = 'marked'): ReturnType<typeof mcpTools> =>
  mcpTools(gateway.gateway.endpoints, { include });
const tool = (name: string): McpTool => list().tools.find((one) => one.name === name)!;

describe('names', () => {
  test('are unique, and of characters that every client accepts, also those of arguments', () => {
    for (const include of ['marked', 'readOnly'] as const) {
      const { tools } = list(include);
      const names = tools.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toEqual([...names].toSorted());
      for (const { name, inputSchema } of tools) {
        const keys = Object.keys(inputSchema['properties'] as object);
        for (const text of [name, ...keys]) expect(text).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }
    }
  });

  test('a name from a comment comes first, and a number tells the others apart', () => {
    const named = list().tools.map(({ name, endpoints }) => [name, endpoints[0]!.id]);
    expect(named).toEqual(
      expect.arrayContaining([
        ['same', 'b.other()'],
        ['same_2', 'a.same()'],
        ['same_3', 'b.same()'],
        ['Gro_e_of_1', 'public."Größe! of $1"("weird key\'" integer, ключ text)'],
        ['tool', 'public."???"()'],
      ]),
    );
    expect(tool('same').title).toBe('The title');
    expect(tool('same_2').title).toBe('Same 2');
  });

  test('an argument with another name keeps its key in the request', () => {
    expect(toolRequest(tool('Gro_e_of_1'), { weird_key_: 1, argument: 'ü' })).toEqual({
      method: 'GET',
      path: '/odd',
      query: 'weird+key%27=1&%D0%BA%D0%BB%D1%8E%D1%87=%C3%BC',
      accept: '*/*',
      idempotencyKey: null,
      ownHeaders: [],
      body: null,
    });
  });

  test('rows that are a table for people by default are requested as JSON', () => {
    expect(toolRequest(tool('shown'), {})).toMatchObject({ path: '/api/shown', accept: 'application/json' });
  });

  test('a query string that is too long for a URL is in the body', () => {
    const list = Array.from({ length: 1000 }, (_, index) => index);
    expect(toolRequest(tool('takes_list'), { ids: list })).toEqual({
      method: 'QUERY',
      path: '/api/takes-list',
      query: '',
      accept: '*/*',
      idempotencyKey: null,
      ownHeaders: [],
      body: { contentType: 'application/x-www-form-urlencoded', text: list.map((id) => `ids=${id}`).join('&') },
    });
  });
});

describe('diagnostics', () => {
  test('a mark without effect, and a name that is taken', () => {
    expect(list().diagnostics.map(({ code, routine, message }) => [code, routine, message])).toEqual(
      expect.arrayContaining([
        ['no-tool', 'public.bytes()', 'the endpoint is not an MCP tool: it returns bytes; return text or JSON'],
        [
          'no-tool',
          'public.over(_a integer, _b text)',
          'the endpoint is not an MCP tool: it shares method and path with a tool; add mcp to its comment too',
        ],
        [
          'name-collision',
          'a.same()',
          'the MCP tool is called same_2: another one has the name "same"; choose one with mcp_name',
        ],
      ]),
    );
  });

  test('lines that are misspelt', () => {
    const messages = gateway.gateway.diagnostics.filter(({ routine }) => routine.includes('misspelt'));
    expect(messages.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: mcp takes no argument, or on or off; the line with "maybe" is ignored',
      'warning: mcp_name takes 1 to 64 letters, digits, underscores and hyphens, not "no spaces" (the line reads like prose)',
      'warning: mcp_hints takes read_only, destructive, additive, idempotent, open_world, not "harmless"',
      'warning: mcp_hints: additive and destructive contradict each other',
    ]);
  });
});

describe('tools', () => {
  test('overloads are one tool, with the hints of the most harmful one', () => {
    expect(tool('twice')).toMatchObject({
      description: 'First.\n\nSecond.',
      inputSchema: { required: ['a'], properties: { a: { anyOf: [expect.anything(), expect.anything()] } } },
      hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    });
    expect(toolRequest(tool('twice'), { a: 'x', b: 'y' }).query).toBe('a=x&b=y');
  });

  test('hints of a comment replace those of the routine', () => {
    expect(tool('hinted').hints).toEqual({ readOnly: true, destructive: false, idempotent: true, openWorld: true });
  });

  test('a plain insert of a table is not idempotent, although it is a PUT', () => {
    const hints = list()
      .tools.filter(({ endpoints }) => endpoints[0]!.table !== null)
      .map(({ name, endpoints, hints: { idempotent } }) => `${endpoints[0]!.method} ${name} ${idempotent}`);
    expect(hints.toSorted()).toEqual([
      'DELETE delete_item true',
      'DELETE delete_returning_item true',
      'GET select_item true',
      'POST update_item false',
      'POST update_returning_item false',
      'PUT insert_item false',
      'PUT insert_on_conflict_do_nothing_item true',
      'PUT insert_on_conflict_do_nothing_returning_item true',
      'PUT insert_on_conflict_do_update_item true',
      'PUT insert_on_conflict_do_update_returning_item true',
      'PUT insert_returning_item false',
    ]);
  });

  test('composite types of any depth have schemas', () => {
    const { inputSchema, output } = tool('deep');
    const inner = {
      type: ['object', 'null'],
      properties: {
        a: { type: ['integer', 'null'], format: 'int32' },
        b: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
      },
    };
    const outer = { x: inner, ys: { type: ['array', 'null'], items: inner } };
    expect(inputSchema['properties']).toMatchObject({
      value: { type: ['object', 'null'], properties: outer },
      list: { items: { properties: outer } },
    });
    expect(output!.schema).toMatchObject({ properties: { rows: { items: { properties: outer } } } });
  });
});

describe('requests', () => {
  test('values of the path are encoded, and none makes the path of another endpoint', () => {
    const pathOf = (id: unknown, rest?: unknown): string =>
      toolRequest(tool('by_id'), { id, ...(rest === undefined ? {} : { rest }) }).path;
    expect([pathOf('a/b?c#d'), pathOf('..', 'x y'), pathOf(7)]).toEqual([
      '/things/a%2Fb%3Fc%23d',
      '/things/../x%20y',
      '/things/7',
    ]);
    for (const wrong of ['', null, undefined]) {
      expect(() => pathOf(wrong)).toThrow(new ToolArgumentError('the argument "id" is missing or empty'));
    }
    expect(() => pathOf('\ud800')).toThrow(ToolArgumentError);
  });

  test('lists repeat their key, documents are JSON, NULL is what the endpoint reads as NULL', () => {
    const { query } = toolRequest(tool('takes_list'), { ids: [1, null, 3], doc: { a: 'b' }, note: null });
    expect(query).toBe('ids=1&ids=&ids=3&doc=%7B%22a%22%3A%22b%22%7D');
  });

  test('arguments that are nested too deeply, and hostile names', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 200_000; depth += 1) value = [value];
    expect(() => toolRequest(tool('deep'), { value })).toThrow('the arguments are nested too deeply');
    const body = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1, "toString": 2}') as Record<string, unknown>;
    expect(toolRequest(tool('deep'), body).body!.text).toBe(JSON.stringify(body));
    expect(toolRequest(tool('same'), body).query).toBe('__proto__=%7B%22x%22%3A1%7D&constructor=1&toString=2');
  });

  test('any arguments become one request to the path of the endpoint', () => {
    const { tools } = list();
    fc.assert(
      fc.property(fc.constantFrom(...tools), fc.dictionary(fc.string(), fc.jsonValue()), (found, values) => {
        let request: ToolRequest;
        try {
          request = toolRequest(found, values);
        } catch (error) {
          if (error instanceof ToolArgumentError) return;
          throw error;
        }
        expect(request.path.split('/').length).toBeLessThanOrEqual(found.endpoints[0]!.path.split('/').length);
        expect(request.path).toMatch(/^\/[^?#\s]*$/);
        expect(request.query).toMatch(/^[\x21-\x7e]*$/);
      }),
    );
  });
});

test('rules of values are part of the schema', () => {
  expect(tool('ruled').inputSchema).toMatchObject({
    required: ['a'],
    properties: {
      a: { type: 'string', minLength: 1, maxLength: 5 },
      b: { type: ['string', 'null'], format: 'email' },
    },
  });
});
