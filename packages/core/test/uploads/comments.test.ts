import type { UploadContext, UploadHandler } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** The options of each call of the handler `recorder`. */
const recorded: UploadContext['options'][] = [];

/** Reads each file, and records its options. */
const recorder: UploadHandler = {
  options: {
    path: { type: 'text', description: 'A path.', default: '/default' },
    command: { type: 'sql', description: 'A command.', default: null },
    constructor_name: { type: 'text', description: 'A name.', default: null },
  },
  store: async (file, { options }) => {
    file.content.resume();
    await new Promise((resolve) => file.content.once('end', resolve));
    recorded.push(options);
    return { status: 'Ok' };
  },
};
const other: UploadHandler = { ...recorder, options: { path: recorder.options!['path']! } };

const gateway = useGateway(
  `
  create function describe_files(_title text, _size text, _meta json default '[]') returns json
    language sql as $$ select json_build_object('title', _title, 'meta', _meta) $$;
  comment on function describe_files is 'HTTP
  upload for recorder, other
  param _meta is upload metadata
  path = /covers/{_title}
  other_path = /others
  command = call load({title})
  buffer_size = {_size}
  constructor_name = __proto__ {__proto__} {toString} {title';

  create function pick(_a text, _meta json) returns json language sql as $$ select '"a"'::json $$;
  create function pick(_a text, _b text, _meta json) returns json language sql as $$ select '"a and b"'::json $$;
  comment on function pick(text, json) is 'HTTP
  upload _meta as metadata';
  comment on function pick(text, text, json) is 'HTTP
  upload _meta as metadata';
`,
  {
    urlPathPrefix: '',
    uploadOptions: {
      uploadHandlers: { recorder: () => recorder, other: () => other },
      defaultUploadHandler: 'recorder',
    },
  },
);

async function post(path: string, fields: Readonly<Record<string, string>> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new File(['text'], 'a.txt', { type: 'text/plain' }));
  const response = await fetch(gateway.url + path, { method: 'POST', body });
  return { status: response.status, body: (await response.json()) as unknown };
}

const metadata = (type: string) => ({
  type,
  fileName: 'a.txt',
  contentType: 'text/plain',
  size: 4,
  success: true,
  status: 'Ok',
});

describe('the metadata parameter', () => {
  test.each(['', '&meta=forged', '&_meta=forged', '&meta=a&_meta=b', '&meta=a&meta=b'])(
    'a value from the client is ignored: %j',
    async (query) => {
      const { status, body } = await post(`/describe-files?title=Emma&size=10${query}`);
      expect({ status, body }).toEqual({
        status: 200,
        body: { title: 'Emma', meta: [metadata('recorder'), metadata('other')] },
      });
    },
  );

  test('a form field does not change it', async () => {
    const { body } = await post('/describe-files?title=Emma&size=10', { other: 'x' });
    expect(body).toMatchObject({ meta: [metadata('recorder'), metadata('other')] });
  });

  test('it selects no overload', async () => {
    expect(await post('/pick?a=1&b=2&meta=3')).toEqual({ status: 200, body: 'a and b' });
    expect(await post('/pick?a=1')).toEqual({ status: 200, body: 'a' });
    expect(await post('/pick?meta=3')).toMatchObject({
      status: 400,
      body: { type: expect.stringContaining('no-matching-signature') },
    });
  });
});

describe('options of a request', () => {
  test('placeholders are replaced, except in SQL; a line with the handler precedes', async () => {
    recorded.length = 0;
    await post('/describe-files?title=Emma&size=11');
    expect(recorded).toMatchObject([
      {
        path: '/covers/Emma',
        command: 'call load({title})',
        buffer_size: 11,
        constructor_name: '__proto__ {__proto__} {toString} {title',
      },
      { path: '/others', buffer_size: 11 },
    ]);
  });

  test.each(['0', '-1', '99999999999', '1e3', '', 'Infinity', '{title}', 'x'.repeat(900)])(
    'buffer_size = %j is 400, and no handler runs',
    async (size) => {
      recorded.length = 0;
      const { status, body } = await post(`/describe-files?title=a&size=${encodeURIComponent(size)}`);
      expect({ status, parameters: (body as { parameters: unknown }).parameters, recorded }).toEqual({
        status: 400,
        parameters: ['size'],
        recorded: [],
      });
    },
  );

  test('a missing parameter is 400, and no handler runs', async () => {
    recorded.length = 0;
    expect(await post('/describe-files?size=10')).toMatchObject({ status: 400, body: { missing: ['title'] } });
    expect(recorded).toEqual([]);
  });
});

test('an endpoint that a hook has given an unknown handler or option is not published', async () => {
  const started = await startGateway(
    `create function f() returns int language sql as 'select 1'; comment on function f is 'HTTP\nupload';
     create function g() returns int language sql as 'select 1'; comment on function g is 'HTTP\nupload';`,
    {
      logAnnotationSetInfo: false,
      endpointCreated: (endpoint) => ({
        ...endpoint,
        upload:
          endpoint.name === 'f'
            ? { handlers: ['constructor'], options: {}, metadataParameter: null }
            : {
                handlers: ['large_object'],
                options: { large_object: { oid: 'x', colour: 'red' } },
                metadataParameter: null,
              },
      }),
    },
  );
  const { endpoints, diagnostics } = started.gateway;
  await started.close();
  expect([endpoints, diagnostics.map(({ message }) => message)]).toEqual([
    [],
    [
      'endpointCreated: no upload handler is named "constructor"',
      'endpointCreated: "oid" of the upload handler large_object takes an integer from 1 to 4294967295',
      'endpointCreated: "colour" of the upload handler large_object does not exist',
    ],
  ]);
});
