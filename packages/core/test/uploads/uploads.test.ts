import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, plain, problem, problemOf } from '../behaviour/support.ts';
import { form, largeObjects, leftovers } from './forms.ts';

const gateway = useGateway(`
  create function store(_title text, _meta json default null) returns json language sql as
    $$ select json_build_object('title', _title, 'files', _meta) $$;
  comment on function store is 'HTTP
  upload _meta as metadata';

  create function as_parameter(_files jsonb) returns jsonb language sql as 'select _files';
  comment on function as_parameter is 'HTTP
  upload for large_object
  param _files is upload metadata';

  create function without_metadata() returns text language sql as $$ select 'done' $$;
  comment on function without_metadata is 'HTTP
  upload';

  create function refuse(_meta json) returns json language plpgsql as $$ begin raise exception 'no' using errcode = '23514'; end $$;
  comment on function refuse is 'HTTP
  upload _meta as metadata';

  create function chosen(_oid bigint, _meta json default null) returns json language sql as 'select _meta';
  comment on function chosen is 'HTTP
  upload _meta as metadata
  oid = {_oid}';

  create procedure archive(_meta json, inout _count int default 0) language plpgsql as
    $$ begin _count := json_array_length(_meta); end $$;
  comment on procedure archive is 'HTTP
  upload _meta as metadata';
`);

const { send } = { send: (line: string, options?: Parameters<typeof gateway.send>[1]) => gateway.send(line, options) };

describe('large objects', () => {
  test('a file becomes a large object, and the metadata a parameter', async () => {
    const answer = await send('POST /api/store?title=x', { body: form(['ü 1.txt', 'hello']) });
    const { files } = JSON.parse(answer.body) as { files: readonly { oid: number }[] };
    const { oid } = files[0]!;
    expect(plain(answer)).toEqual(
      json(
        `{"title" : "x", "files" : [{"type":"large_object","fileName":"ü 1.txt","contentType":"text/plain","size":5,"success":true,"status":"Ok","oid":${oid}}]}`,
      ),
    );
    expect((await gateway.database.query('select lo_get($1)::text as bytes', [oid]))[0]).toEqual({
      bytes: String.raw`\x68656c6c6f`,
    });
  });

  test('several files, an empty one, and all byte values', async () => {
    const bytes = Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 251);
    const before = (await largeObjects(gateway.database)).length;
    const answer = await send('POST /api/as-parameter', {
      body: form(['a.bin', bytes, 'application/octet-stream'], ['empty', ''], ['c.txt', 'third']),
    });
    const files = JSON.parse(answer.body) as readonly object[];
    expect(files.map((file) => ({ ...file, oid: null }))).toEqual([
      {
        type: 'large_object',
        fileName: 'a.bin',
        contentType: 'application/octet-stream',
        size: 2_500_000,
        success: true,
        status: 'Ok',
        oid: null,
      },
      {
        type: 'large_object',
        fileName: 'empty',
        contentType: 'text/plain',
        size: 0,
        success: true,
        status: 'Ok',
        oid: null,
      },
      {
        type: 'large_object',
        fileName: 'c.txt',
        contentType: 'text/plain',
        size: 5,
        success: true,
        status: 'Ok',
        oid: null,
      },
    ]);
    expect((await largeObjects(gateway.database)).slice(before)).toEqual([
      Buffer.from(bytes).toString('latin1'),
      '',
      'third',
    ]);
  });

  test('an oid of the request', async () => {
    const answer = await send('POST /api/chosen?oid=4000000001', { body: form(['a', 'x']) });
    expect(answer.body).toContain('"oid":4000000001}');
    const again = await send('POST /api/chosen?oid=4000000001', { body: form(['a', 'x']) });
    expect(problem(again)).toMatchObject(problemOf(409, { code: '23505' }));
    const invalid = await send('POST /api/chosen?oid=-1', { body: form(['a', 'x']) });
    expect(problem(invalid)).toMatchObject(problemOf(400, { parameters: ['oid'] }));
    const large = await send('POST /api/chosen?oid=4294967296', { body: form(['a', 'x']) });
    expect(problem(large)).toMatchObject(problemOf(400));
  });

  test('a routine that raises leaves no object', async () => {
    const before = await leftovers(gateway.database);
    const answer = await send('POST /api/refuse', { body: form(['a', 'x'], ['b', 'y']) });
    expect(problem(answer)).toMatchObject(problemOf(400, { title: 'no', code: '23514' }));
    expect(await leftovers(gateway.database)).toEqual(before);
  });

  test('a procedure with output', async () => {
    const answer = await send('POST /api/archive', { body: form(['a', 'x'], ['b', 'y']) });
    expect(plain(answer)).toEqual(json('{"count":2}'));
  });
});

describe('forms', () => {
  test('without metadata, and without files', async () => {
    expect(plain(await send('POST /api/without-metadata', { body: form(['a', 'x']) }))).toMatchObject({ body: 'done' });
    const empty = new FormData();
    empty.append('note', 'no file');
    expect(plain(await send('POST /api/as-parameter', { body: empty }))).toEqual(json('[]'));
  });

  test('a file input of a page in which no file was chosen is no file', async () => {
    expect(plain(await send('POST /api/as-parameter', { body: form(['', '', 'application/octet-stream']) }))).toEqual(
      json('[]'),
    );
  });

  test('a name is cut to its last component, and any text is data', async () => {
    const names = ['../../etc/passwd', String.raw`C:\temp\a.txt`, `quote".txt`, '\u202Etxt.exe', 'x'.repeat(4096)];
    const answer = await send('POST /api/as-parameter', { body: form(...names.map((name) => [name, 'x'] as const)) });
    const files = JSON.parse(answer.body) as readonly { fileName: string }[];
    expect(files.map(({ fileName }) => fileName)).toEqual([
      'passwd',
      'a.txt',
      '%22.txt'.replace('%22', 'quote%22'),
      '\u202Etxt.exe',
      'x'.repeat(4096),
    ]);
  });

  test('metadata that a client sends is ignored', async () => {
    const answer = await send('POST /api/store?title=x&meta=%5B%22forged%22%5D', { body: form(['a', 'x']) });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain('forged');
    expect(answer.body).toContain('"fileName":"a"');
  });

  test('parameters are bound first: a refusal stores nothing', async () => {
    const before = await leftovers(gateway.database);
    expect(problem(await send('POST /api/store', { body: form(['a', 'x']) }))).toMatchObject(
      problemOf(400, { missing: ['title'] }),
    );
    expect(problem(await send('POST /api/store?title=x&other=1', { body: form(['a', 'x']) }))).toMatchObject(
      problemOf(400, { unknown: ['other'] }),
    );
    expect(await leftovers(gateway.database)).toEqual(before);
  });

  test('a parameter as a field of the form is refused, and nothing is stored', async () => {
    const before = await leftovers(gateway.database);
    const body = form(['a', 'x']);
    body.append('title', 'from the form');
    expect(problem(await send('POST /api/store?title=x', { body }))).toMatchObject(
      problemOf(400, {
        unknown: ['title'],
        detail: 'The form has a field "title"; send this parameter in the query string.',
      }),
    );
    expect(await leftovers(gateway.database)).toEqual(before);
  });

  test('only POST', async () => {
    const answer = await send('PUT /api/store?title=x', { body: form(['a', 'x']) });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST');
  });
});

test('the metadata as a setting, and as a parameter by its name', async () => {
  const other = await startGateway(
    `create function setting() returns json language sql as $$ select current_setting('my.files')::json $$;
     comment on function setting is 'HTTP
     upload';
     create function named(_files text) returns text language sql as 'select _files';
     comment on function named is 'HTTP
     upload';
     create function later() returns text language sql as $$ select current_setting('my.files', true) $$;
     comment on function later is 'HTTP GET';`,
    {
      poolSize: 1,
      uploadOptions: {
        useDefaultUploadMetadataContextKey: true,
        defaultUploadMetadataContextKey: 'my.files',
        useDefaultUploadMetadataParameter: true,
        defaultUploadMetadataParameterName: '_files',
      },
    },
  );
  try {
    for (const path of ['setting', 'named']) {
      const answer = await other.send(`POST /api/${path}`, { body: form(['a.txt', 'x']) });
      expect(answer.body).toMatch(
        /^\[\{"type":"large_object","fileName":"a.txt","contentType":"text\/plain","size":1,"success":true,"status":"Ok","oid":\d+\}\]$/,
      );
    }
    expect(plain(await other.send('GET /api/later'))).toMatchObject({ status: 200, body: '' });
  } finally {
    await other.close();
  }
});

test('uploads are observed', async () => {
  const before = gateway.observations.length;
  await send('POST /api/without-metadata', { body: form(['a.txt', 'abc']) });
  expect(gateway.observations.slice(before).filter(({ kind }) => kind === 'upload')).toMatchObject([
    { handler: 'large_object', fileName: 'a.txt', contentType: 'text/plain', size: 3, status: 'Ok' },
  ]);
});
