import { describe, expect, test } from 'vitest';
import { codeSamples } from '../../src/browser/code-samples.ts';
import { curlCommand } from '../../src/browser/curl.ts';
import { EventStreamParser } from '../../src/browser/event-stream.ts';
import { readJsonRows } from '../../src/browser/json-rows.ts';
import { formatJson } from '../../src/browser/json-text.ts';
import type { PageOperation, PageParameter, ValueSchema } from '../../src/browser/page-data.ts';
import {
  changesQuery,
  type PageRequest,
  requestBody,
  requestHeaders,
  requestTarget,
  shortenTarget,
} from '../../src/browser/request.ts';
import { visibleText } from '../../src/browser/visible-text.ts';

/* The modules of the pages that need no browser. */

function parameter(name: string, place: PageParameter['in'], schema: ValueSchema = { type: 'string' }): PageParameter {
  return { name, in: place, type: '', required: true, default: null, secret: false, description: '', schema };
}

function operation(path: string, parameters: readonly PageParameter[], kind?: 'object' | 'text'): PageOperation {
  return {
    id: 'x',
    method: 'POST',
    path,
    schema: 'public',
    group: 'Functions',
    isTable: false,
    isVariant: false,
    tags: [],
    signatures: [],
    summary: '',
    description: '',
    access: { required: false, roles: [], basic: false },
    loginOrLogout: null,
    parameters,
    body: kind === undefined ? null : { kind, mediaType: 'application/json', required: true, accept: '' },
    takesQuery: false,
    workbookType: null,
    listing: null,
    responses: [],
    client: null,
    eventsPath: null,
    changesPath: null,
  };
}

describe('requests', () => {
  test('values are encoded in path and query string; empty ones and those left out differ', () => {
    const parameters = [
      parameter('id', 'path'),
      parameter('a&b', 'query'),
      parameter('empty', 'query'),
      parameter('missing', 'query'),
      parameter('list', 'query', { type: 'array' }),
      parameter('If-Match', 'header'),
    ];
    const texts = new Map(
      parameters.map((one, index) => [one, [['a/b?#'], ['ü='], [''], null, ['1', ''], ['"5"']][index]!]),
    );
    const asked = operation('/api/100%-ä#/{id}/{other}', parameters);
    expect(requestTarget(asked, texts)).toBe(
      '/api/100%25-%C3%A4%23/a%2Fb%3F%23/%7Bother%7D?a%26b=%C3%BC%3D&empty=&list=1&list=',
    );
    expect(requestHeaders(asked, texts)).toEqual([['If-Match', '"5"']]);
    expect(requestBody(asked, texts)).toBe(null);
  });

  test.each([
    [{ type: 'integer' }, ['12345678901234567890'], '12345678901234567890'],
    [{ type: ['number', 'null'] }, ['1.10'], '1.10'],
    [{ type: 'number' }, ['NaN'], '"NaN"'],
    [{ type: 'integer' }, ['1, "x": 2'], String.raw`"1, \"x\": 2"`],
    [{ type: ['integer', 'null'] }, [''], 'null'],
    [{ type: 'string' }, [''], '""'],
    [{ type: ['string', 'null'] }, ['null'], '"null"'],
    [{ type: 'boolean' }, ['true'], 'true'],
    [{ type: 'array', items: { type: 'string' } }, ['a', '"'], String.raw`["a", "\""]`],
    [{ type: 'array', items: { type: 'integer' } }, [], '[]'],
    [{}, ['{"a":1}'], '{"a":1}'],
    [{ type: ['object', 'null'] }, ['{"city":"B"}'], '{"city":"B"}'],
  ])('%j with %j is %s in a body', (schema, texts, expected) => {
    const value = parameter('"v', 'body', schema);
    expect(requestBody(operation('/', [value], 'object'), new Map([[value, texts]]))).toBe(
      `{\n  "\\"v": ${expected}\n}`,
    );
  });

  test('a body is one text, or an empty object', () => {
    const value = parameter('text', 'body');
    expect(requestBody(operation('/', [value], 'text'), new Map([[value, ['a "text"']]]))).toBe('a "text"');
    expect(requestBody(operation('/', [value], 'object'), new Map([[value, null]]))).toBe('{}');
  });
});

describe('a query string that is too long for a URL', () => {
  const url = `http://localhost:8080/api/a?text=${'x'.repeat(4000)}`;
  const get: PageRequest = { method: 'GET', url, headers: [['x-a', 'b']], body: null, files: [] };
  const asked = { ...operation('/api/a', []), takesQuery: true };

  test('is the body of a request with the method QUERY', () => {
    const request = shortenTarget(get, asked);
    expect(request).toEqual({
      method: 'QUERY',
      url: 'http://localhost:8080/api/a',
      headers: [
        ['content-type', 'application/x-www-form-urlencoded'],
        ['x-a', 'b'],
      ],
      body: `text=${'x'.repeat(4000)}`,
      files: [],
    });
    expect(curlCommand(request)).toMatch(/^curl http:\/\/localhost:8080\/api\/a \\\n {2}-X QUERY /);
  });

  test('stays in the URL of other endpoints, and where it is short', () => {
    expect(shortenTarget(get, { ...asked, takesQuery: false })).toBe(get);
    const short = { ...get, url: 'http://localhost:8080/api/a?text=x' };
    expect(shortenTarget(short, asked)).toBe(short);
  });
});

describe('curl commands', () => {
  const request: PageRequest = {
    method: 'GET',
    url: 'http://localhost:8080/api/a',
    headers: [],
    body: null,
    files: [],
  };

  test('quote everything for the shell, and contain no credentials', () => {
    const command = curlCommand({
      ...request,
      method: 'PUT',
      url: `http://localhost:8080/a?b='$(reboot)'`,
      headers: [
        ['content-type', 'application/json'],
        ['Authorization', 'Bearer secret'],
        ['X-A', "it's"],
      ],
      body: `{"a": "'; rm -rf ~; '"}`,
    });
    expect(command).toBe(
      [
        String.raw`curl 'http://localhost:8080/a?b='\''$(reboot)'\'''`,
        '-X PUT',
        "-H 'content-type: application/json'",
        '-H "Authorization: Bearer $TOKEN"',
        String.raw`-H 'X-A: it'\''s'`,
        String.raw`--data-raw '{"a": "'\''; rm -rf ~; '\''"}'`,
      ].join(' \\\n  '),
    );
  });

  test('name the method only where curl would choose another one', () => {
    const files = [new File([''], `a";b.png`)];
    expect(curlCommand(request)).toBe('curl http://localhost:8080/api/a');
    expect(curlCommand({ ...request, method: 'HEAD' })).toContain('--head');
    expect(curlCommand({ ...request, method: 'GET', body: '{}' })).toContain('-X GET');
    expect(curlCommand({ ...request, method: 'POST', files })).toBe(
      String.raw`curl http://localhost:8080/api/a` + ' \\\n  ' + String.raw`-F 'file=@"a\";b.png"'`,
    );
  });
});

describe('code', () => {
  const id = parameter('id', 'path', { type: 'integer' });
  const note = parameter('it\'s "odd"', 'body');
  const prefer = parameter('Prefer', 'header');
  const asked: PageOperation = {
    ...operation('/api/a/{id}', [id, note, prefer], 'object'),
    client: { name: 'aPost', module: './api.ts', takesRequest: true, hasResult: true },
  };
  const texts = new Map([
    [id, ['7']],
    [note, ['</script> `${x}`']],
    [prefer, ['count=exact']],
  ]);
  const request: PageRequest = {
    method: 'POST',
    url: 'http://localhost:8080/api/a/7',
    headers: [
      ['content-type', 'application/json'],
      ['Authorization', 'Bearer secret'],
    ],
    body: '{\n  "it\'s \\"odd\\"": "</script> `${x}`"\n}',
    files: [],
  };
  const codeOf = (form: Partial<Parameters<typeof codeSamples>[0]> = {}): readonly string[] =>
    codeSamples({ operation: asked, request, texts, hasCookie: false, ...form }).map(({ code }) => code);

  test('for fetch sends the same request, without credentials', () => {
    expect(codeOf()[1]).toBe(
      [
        'const response = await fetch("http://localhost:8080/api/a/7", {',
        '  method: "POST",',
        '  headers: {',
        '    "content-type": "application/json",',
        '    "Authorization": `Bearer ${token}`,',
        '  },',
        '  body: JSON.stringify({',
        String.raw`    "it's \"odd\"": "</script> ${'`${x}`'}"`,
        '  }),',
        '});',
        'if (!response.ok) throw new Error((await response.json()).title);',
      ].join('\n'),
    );
    expect(codeOf({ hasCookie: true })[1]).toContain('credentials: "include"');
  });

  test('for the generated client has the parameters of path and body in one object', () => {
    expect(codeOf()[2]).toBe(
      [
        'import { aPost } from "./api.ts";',
        '',
        'const result = await aPost({',
        '  id: 7,',
        '  ...{',
        String.raw`    "it's \"odd\"": "</script> ${'`${x}`'}"`,
        '  },',
        '}, { headers: { "Prefer": "count=exact" } });',
      ].join('\n'),
    );
    expect(codeOf({ operation: { ...asked, client: null } })).toHaveLength(2);
  });

  test.each([
    ['{"a": 12345678901234567890}', String.raw`body: "{\"a\": 12345678901234567890}"`],
    ['{"__proto__": 1}', String.raw`body: "{\"__proto__\": 1}"`],
    ['{"a": "\u2028"}', String.raw`body: JSON.stringify({"a": "\u2028"})`],
    ['not JSON', 'body: "not JSON"'],
  ])('keeps the body %j', (body, expected) => {
    expect(codeOf({ request: { ...request, body } })[1]).toContain(expected);
  });

  test('a stream of changes has the conditions and columns of the form, and neither order nor pages', () => {
    const parameters = ['title', 'select', 'order', 'limit', '$after'].map((name) => parameter(name, 'query'));
    const listing = {
      conditions: [],
      columns: [],
      related: [],
      select: 'select',
      order: 'order',
      page: ['limit', '$after'],
    };
    const values = new Map(parameters.map((one) => [one, [`${one.name}=`]]));
    expect(changesQuery({ ...operation('/a', parameters), listing }, values)).toBe(
      'title=title%3D&select=select%3D&snapshot=true',
    );
    const related = new Map([[parameters[1]!, ['id,title,language(name,country(*))']]]);
    expect(changesQuery({ ...operation('/a', parameters), listing }, related)).toBe('select=id,title&snapshot=true');
  });
});

describe('JSON', () => {
  const format = (text: string): string => [...formatJson(text)].map((token) => token.text).join('');

  test.each([
    [
      '[{"id":12345678901234567890,"a":null},{}]',
      '[\n  {\n    "id": 12345678901234567890,\n    "a": null\n  },\n  {}\n]',
    ],
    [
      '{"a":[],"b":{"c":[1,-2.5e3,true]}}',
      '{\n  "a": [],\n  "b": {\n    "c": [\n      1,\n      -2.5e3,\n      true\n    ]\n  }\n}',
    ],
    [String.raw`"a\"b{}"`, String.raw`"a\"b{}"`],
    ['{"a":1}\n{"a":2}\n', '{\n  "a": 1\n}\n{\n  "a": 2\n}'],
    ['1\n"x"', '1\n"x"'],
    ['[{"a":"cut of', '[\n  {\n    "a": "cut of'],
  ])('%s is indented', (text, expected) => expect(format(text)).toBe(expected));

  test('keeps every value of a document', () => {
    const value = { a: [1, [2, {}], 'x:"y"', { '': null }], 'ke"y': { z: [] } };
    expect(JSON.parse(format(JSON.stringify(value)))).toEqual(value);
    const kinds = [...formatJson('{"k":"s","n":1,"w":null}')].filter(({ kind }) => kind !== 'space');
    expect(kinds.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'key "k"',
      'string "s"',
      'key "n"',
      'number 1',
      'key "w"',
      'word null',
    ]);
  });

  test('a deep document does not grow without bound', () => {
    expect(format('['.repeat(10_000)).length).toBeLessThan(10_000 * 60);
  });

  test('a long text that is cut off takes linear time', () => {
    const text = `["${'a'.repeat(200_000)}`;
    expect(format(text)).toBe(`[\n  ${text.slice(1)}`);
  });
});

describe('event streams', () => {
  const stream = ': hello\r\n\r\nid: 1\ndata: a\ndata:b\n\ndata\n\nevent: x\rid: 2\rdata: c: d\r\rdata: unfinished';
  const events = [
    { id: '1', data: 'a\nb' },
    { id: '1', data: '' },
    { id: '2', data: 'c: d' },
  ];

  test('are parsed whole, and cut at any place', () => {
    expect(new EventStreamParser().push(stream)).toEqual(events);
    for (let at = 0; at < stream.length; at += 1) {
      const parser = new EventStreamParser();
      expect([...parser.push(stream.slice(0, at)), ...parser.push(stream.slice(at))]).toEqual(events);
    }
  });
});

test('characters without a shape are written as escapes', () => {
  expect(visibleText('a\u202Eb\u0000\u200Bc\nd\te ü 😀 \u2028')).toBe(
    String.raw`a\u{202e}b\u{0}\u{200b}c` + '\nd\te ü 😀 ' + String.raw`\u{2028}`,
  );
});

describe('rows of JSON', () => {
  test('rows have the members of all, numbers keep their digits, and nested values are one line', () => {
    expect(readJsonRows('[{"a": 12345678901234567890, "b": {"c": [1, "x"]}}, {"d": "\\u00e4\\n", "a": null}]')).toEqual(
      {
        columns: ['a', 'b', 'd'],
        rows: [
          [
            { kind: 'number', text: '12345678901234567890' },
            { kind: 'json', text: '{"c": [1, "x"]}' },
          ],
          [{ kind: 'word', text: 'null' }, undefined, { kind: 'string', text: 'ä\n' }],
        ],
      },
    );
    expect(readJsonRows('{"a": 1}\n{"a": 2}\n')?.rows).toHaveLength(2);
  });

  test.each([
    '',
    '[]',
    '[{}]',
    '{"a": 1}',
    '[1]',
    '[{"a": 1}',
    '[{"a": 1}]]',
    '[{"a": [}]',
    '[{"a" 1}]',
    '[{"a": "x',
    '"a"',
  ])('no rows are in %s', (text) => {
    expect(readJsonRows(text)).toBeNull();
  });
});
