import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crudSource } from '@pgway/core';
import { httpFile, httpFiles } from '@pgway/generators';
import { httpDocuments } from '@pgway/generators/internal';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { bool, column, int4, jsonb, returns, text, textArray } from '../../core/test/support/routine.ts';
import { address, customers, mood, planned, timestamptz } from './endpoints.ts';
import { at, root } from './support.ts';

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Reads a file as the REST clients of VS Code and JetBrains do: `@name=value` lines, `###` between requests, lines that begin
 * with `#` or `//` are comments (those with `@` are commands), the request line, headers, an empty line, the body. Lines of a
 * multipart body end with CRLF, and `< ./name` is the content of a file.
 */
function readRequests(document: string): {
  readonly requests: readonly Request[];
  readonly commands: readonly string[];
} {
  const variables = new Map([...document.matchAll(/^@(\w+)\s*=\s*(.*)$/gm)].map(([, name, value]) => [name!, value!]));
  const commands = document.split('\n').filter((line) => /^\s*(?:#+|\/{2,})\s*@/.test(line));
  const replaced = (line: string): string =>
    line.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => variables.get(name) ?? `<no variable ${name}>`);
  const requests = document.split(/^#{3,}.*$/m).map((part) => {
    const lines = part.split('\n').filter((line) => !/^\s*(#|\/\/)|^@/.test(line));
    const start = lines.findIndex((line) => line.trim() !== '');
    const end = lines.indexOf('', start) === -1 ? lines.length : lines.indexOf('', start);
    const [request = '', ...headers] = lines.slice(start, end).map(replaced);
    const [method = '', url = ''] = request.split(' ');
    const body = lines
      .slice(end + 1)
      .join('\n')
      .trim();
    const isForm = headers.some((line) => line.startsWith('Content-Type: multipart/'));
    return {
      method,
      url,
      headers: Object.fromEntries(headers.map((line) => line.split(': ') as [string, string])),
      body: body === '' ? null : isForm ? toForm(body) : replaced(body),
    };
  });
  return { requests, commands };
}

function toForm(body: string): string {
  return body.replaceAll(/^< .*$/gm, 'content').replaceAll('\n', '\r\n');
}

const documentOf = (sketches: Parameters<typeof planned>[0], options = {}): string =>
  httpDocuments(planned(sketches), options)[0]!.content;

describe('a request', () => {
  test('in a query string, with samples by type', () => {
    const parameters = [
      { name: '_id', type: int4 },
      { name: '_name', type: text },
      { name: '_tags', type: textArray },
      { name: '_ok', type: bool },
      { name: '_at', type: timestamptz },
      { name: '_home', type: address },
      { name: '_mood', type: mood, hasDefault: true },
    ];
    const comment = 'Finds it.\nHTTP GET /a/{id}\nauthorize admin';
    expect(documentOf([{ comment, parameters, result: returns('scalar', [column('f', int4)]) }]))
      .toBe(`@host=http://localhost:8080

# function public.do_thing(_id int4, _name text, _tags text[], _ok bool, _at timestamp with time zone, _home public.address, _mood public.mood)
#   id: int4
#   name: text
#   tags: text[]
#   ok: bool
#   at: timestamp with time zone
#   home: public.address
#   mood: public.mood, may be left out
# returns int4
#
# Finds it.
#
# for admin
GET {{host}}/a/1?name=ABC&tags=ABC&ok=true&at=2025-01-31T12%3A30%3A00Z&homeStreet=ABC&homeMovedOn=2025-01-31T12%3A30%3A00Z&mood=sad
`);
  });

  test('in a body', () => {
    const parameters = [
      { name: '_home', type: address },
      { name: '_more', type: jsonb },
      { name: '_tags', type: textArray },
    ];
    expect(documentOf([{ comment: 'HTTP POST /a', parameters, result: returns('void') }], { commentHeader: 'none' }))
      .toBe(`@host=http://localhost:8080

POST {{host}}/a
Content-Type: application/json

{
  "home": {"street": "ABC", "movedOn": "2025-01-31T12:30:00Z"},
  "more": {},
  "tags": ["ABC"]
}
`);
  });

  test('with a body that is one parameter', () => {
    const parameters = [{ name: 'a', type: int4 }, { name: 'b' }];
    expect(
      documentOf([{ comment: 'HTTP POST /a\nbody_parameter_name b', parameters }], { commentHeader: 'none' }),
    ).toContain('POST {{host}}/a?a=1\nContent-Type: text/plain\n\nABC\n');
  });

  test('of a table selects and deletes by key', () => {
    const lines = documentOf(customers(true), { commentHeader: 'none' })
      .split('\n')
      .filter((line) => line.includes('{{host}}'));
    expect(lines.slice(0, 5)).toEqual([
      'GET {{host}}/api/customers?customerId=1',
      'POST {{host}}/api/customers',
      'POST {{host}}/api/customers/returning',
      'DELETE {{host}}/api/customers?customerId=1',
      'DELETE {{host}}/api/customers/returning?customerId=1',
    ]);
  });
});

test('a request of a table names optional columns', () => {
  expect(documentOf(customers())).toContain(`# insert public.customers
#   customerId: int4
#   name: text
#   createdAt: timestamp with time zone, may be left out
#   home: public.address, may be left out
`);
});

describe('options', () => {
  const two = planned([
    { name: 'a', comment: 'Prose.\nHTTP' },
    { name: 'b', schema: 'other/..', comment: 'HTTP GET /b' },
  ]);
  const names = (options: Parameters<typeof httpFiles>[1]): readonly string[] =>
    httpFiles(two, options, at).map(({ path }) => path);

  test('folder, namePattern, databaseName and fileMode', () => {
    expect(names({})).toEqual([]);
    expect(names({ folder: 'requests/' })).toEqual(['requests/database.http']);
    expect(names({ folder: '.', databaseName: 'my/db', fileMode: 'schema' })).toEqual([
      './my_db_other___.http',
      './my_db_public.http',
    ]);
    expect(names({ folder: '.', namePattern: '{1}-x', fileMode: 'schema' })).toEqual([
      './other___-x.http',
      './public-x.http',
    ]);
    expect(names({ folder: '.', option: 'endpoint' })).toEqual([]);
    expect(names({ folder: '.', option: 'both' })).toEqual(['./database.http']);
  });

  test('host and comments', () => {
    expect(httpDocuments(two, { host: 'https://x.example/' })[0]!.content).toContain('@host=https://x.example\n');
    expect(httpDocuments(two, { commentHeaderIncludeComments: false })[0]!.content).not.toContain('Prose.');
  });

  test.each([
    [
      { option: 'files' },
      'httpFile.option: must be one of "file", "endpoint", "both", not "files"; did you mean "file"?',
    ],
    [
      { fileMode: 'schema', namePattern: 'x' },
      'httpFile.namePattern: "x" has no {1} for the schema, which fileMode "schema" needs; add it',
    ],
    [{ file: 'x' }, 'httpFile.file: unknown option'],
  ])('%j', (options, message) => expect(() => httpFile(options as never)).toThrow(message));

  test('schemas with the same file name', () => {
    const endpoints = planned([{ schema: 'a+b' }, { schema: 'a_b' }]);
    expect(() => httpDocuments(endpoints, { fileMode: 'schema' })).toThrow(
      'httpFile: the schemas "a+b" and "a_b" have the same file "database_a_b.http"; exclude one of them',
    );
  });
});

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('a REST client', () => {
  describe.each([
    [
      'the example database',
      ['schema', 'data', 'api'].map((name) => read(`examples/library/${name}.sql`)).join('\n'),
      25,
    ],
    ['the hostile database', read('packages/generators/test/golden/hostile/setup.sql'), 8],
    ['a database of tables', read('packages/generators/test/golden/tables/setup.sql'), 30],
  ] as const)('sends the requests of %s', (_, sql, count) => {
    const gateway = useGateway(sql, { sourcesCreated: (sources) => void sources.push(crudSource()) });

    test('and the gateway accepts each of them', async () => {
      const [document] = httpDocuments(gateway.gateway.endpoints, { host: gateway.url });
      const { requests, commands } = readRequests(document!.content);
      expect(commands).toEqual([]);
      expect(requests.length).toBe(gateway.gateway.endpoints.length);
      expect(requests.length).toBeGreaterThanOrEqual(count);
      for (const { method, url, headers, body } of requests) {
        expect(url.startsWith(`${gateway.url}/`)).toBe(true);
        // In the order of the file.
        const answer = await fetch(url, { method, headers, body });
        const told = await answer.text();
        // A routine may reject a sample; the gateway must understand the request.
        expect(told).not.toMatch(
          /unknown-parameter|missing-parameter|malformed|repeated|unsupported-media|not-an-object|unknown-endpoint/,
        );
        expect([200, 204, 400, 404, 409, 500], `${method} ${url} ${told}`).toContain(answer.status);
      }
    });
  });
});
