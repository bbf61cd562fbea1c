import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { problem, problemOf, sendRaw } from '../behaviour/support.ts';
import { beginUpload, boundary, endUpload, expectNothingLeft, fileHead, form, formEnd, leftovers } from './forms.ts';

const sql = `
  create function store(_meta json) returns json language sql as 'select _meta';
  comment on function store is 'HTTP
  upload _meta as metadata';`;

const gateway = useGateway(sql, {
  uploadOptions: { maxFileSize: 1000, maxTotalSize: 5000, maxFiles: 3, maxParts: 5 },
});

afterEach(async () => {
  await expectNothingLeft(gateway.database);
});

const file = (size: number): readonly [string, string] => ['a.txt', 'x'.repeat(size)];

describe('past a limit: 413, and nothing is stored', () => {
  test.each([
    ['a file', form(file(10), file(1001)), 'The file "a.txt" is larger than the limit of 1000 bytes.'],
    ['files', form(file(1), file(1), file(1), file(1)), 'The form has more than 3 files.'],
  ])('%s', async (_name, body, detail) => {
    const answer = await gateway.send('POST /api/store', { body });
    expect(problem(answer)).toMatchObject(problemOf(413, { detail }));
  });

  test('the size of the whole form, by its announced length', async () => {
    const answer = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/store',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': '5001' },
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ detail: 'The limit of the whole form is 5000 bytes.' });
  });

  test('the size of the whole form, as it arrives', async () => {
    const upload = beginUpload(gateway, '/api/store');
    upload.write(`--${boundary}\r\nContent-Disposition: form-data; name="note"\r\n\r\n${'x'.repeat(6000)}`);
    expect(await upload.response).toMatch(/^HTTP\/1\.1 413 [^]*The limit of the whole form is 5000 bytes\./);
    upload.socket.destroy();
  });

  test('parts', async () => {
    const body = form(file(1));
    for (let index = 0; index < 5; index++) body.append(`field${index}`, 'x');
    expect(problem(await gateway.send('POST /api/store', { body }))).toMatchObject(
      problemOf(413, { detail: 'The form has more than 5 files and fields.' }),
    );
  });

  test('a file of exactly the limit', async () => {
    const answer = await gateway.send('POST /api/store', { body: form(file(1000)) });
    expect(answer.status).toBe(200);
    await gateway.database.query(`select lo_unlink(oid) from pg_largeobject_metadata`);
  });
});

describe('a malformed form: 400, and nothing is stored', () => {
  const head = fileHead('a.txt');
  test.each([
    ['no end', `${head}hello`],
    ['an end within the headers', `--${boundary}\r\nContent-Disp`],
    ['another boundary', `--other\r\n\r\nhello\r\n--other--\r\n`],
    ['no part', 'hello'],
    ['an empty body', ''],
    ['a boundary within a line', `--${boundary}x\r\n\r\nhello`],
    [
      'headers without an end',
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"${formEnd}`,
    ],
    ['no Content-Disposition', `--${boundary}\r\nContent-Type: text/plain\r\n\r\nhello${formEnd}`],
    ['no headers', `--${boundary}\r\n\r\nhello${formEnd}`],
    ['another disposition', `${head.replace('form-data', 'attachment')}hello${formEnd}`],
    ['a header without a colon', `${head.replace('--test-boundary\r\n', '$&nonsense\r\n')}hello${formEnd}`],
    ['a line break in a name', `${fileHead('a\nb.txt')}hello${formEnd}`],
    ['an encoded line break in a name', `${head.replace('filename="', `filename*=utf-8''a%0Ab; x="`)}hello${formEnd}`],
    ['a file, and a part without a disposition', `${head}hello\r\n--${boundary}\r\nX: y\r\n\r\nhello${formEnd}`],
  ])('%s', async (_name, body) => {
    const answer = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/store',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
    });
    expect({ status: answer.status, body: JSON.parse(answer.body.toString()) as object }).toMatchObject({
      status: 400,
      body: { type: 'urn:pgway:problem:malformed-body' },
    });
  });

  describe('without a limit of its size', () => {
    const large = useGateway(sql);

    test.each([
      ['a name of 17 kB', `${fileHead('a'.repeat(17_000))}hello${formEnd}`],
      ['a name of 70 kB', `${fileHead('a'.repeat(70_000))}hello${formEnd}`],
      ['a large header', `${head.replace('\r\n', `\r\nX-Large: ${'a'.repeat(17_000)}\r\n`)}hello${formEnd}`],
      ['a huge header', `${head.replace('\r\n', `\r\nX-Large: ${'a'.repeat(70_000)}\r\n`)}hello${formEnd}`],
      ['many headers', `${head.replace('\r\n', `\r\n${'X-Many: a\r\n'.repeat(101)}`)}hello${formEnd}`],
    ])('%s', async (_name, body) => {
      const answer = await sendRaw(large.url, {
        method: 'POST',
        path: '/api/store',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body,
      });
      expect({ status: answer.status, body: JSON.parse(answer.body.toString()) as object }).toEqual({
        status: 400,
        body: {
          type: 'urn:pgway:problem:malformed-body',
          title: 'The body cannot be read',
          status: 400,
          detail: 'The form is not valid: The headers of a part are larger than 16384 bytes.',
        },
      });
      await expectNothingLeft(large.database);
    });

    test('a name of 4 kB is accepted', async () => {
      const answer = await sendRaw(large.url, {
        method: 'POST',
        path: '/api/store',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: `${fileHead('a'.repeat(4096))}hello${formEnd}`,
      });
      expect(JSON.parse(answer.body.toString())).toMatchObject([{ fileName: 'a'.repeat(4096), size: 5 }]);
      await large.database.query(`select lo_unlink(oid) from pg_largeobject_metadata`);
    });
  });

  test.each(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; charset=utf-8'])(
    'a content type without a boundary: %s',
    async (type) => {
      const answer = await sendRaw(gateway.url, {
        method: 'POST',
        path: '/api/store',
        headers: { 'content-type': type },
        body: 'x',
      });
      expect(answer.status).toBe(400);
    },
  );
});

describe('another media type: 415', () => {
  test.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=x',
    'multipart/form-dataX; boundary=x',
  ])('%s', async (type) => {
    const answer = await gateway.send('POST /api/store', { body: '{}', headers: { 'content-type': type } });
    expect(problem(answer)).toMatchObject(
      problemOf(415, { detail: `The body is "${type}"; send the files as multipart/form-data.` }),
    );
  });

  test('no content type, and a compressed form', async () => {
    expect((await sendRaw(gateway.url, { method: 'POST', path: '/api/store', body: 'x' })).status).toBe(415);
    const answer = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/store',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-encoding': 'gzip' },
      body: 'x',
    });
    expect(answer.status).toBe(415);
  });
});

describe('a client that leaves', () => {
  test('in the middle of a file', async () => {
    const upload = beginUpload(gateway, '/api/store');
    upload.write(`${fileHead('a.txt')}hello`);
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(1);
    upload.socket.destroy();
  });

  test('after the first of two files', async () => {
    const upload = beginUpload(gateway, '/api/store');
    upload.write(`${fileHead('a.txt')}hello\r\n${fileHead('b.txt')}`);
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(1);
    upload.socket.end();
    upload.socket.destroy();
  });
});

describe('the pace of the sender', () => {
  let slow: TestGateway | undefined;
  afterEach(async () => {
    await slow?.close();
    slow = undefined;
  });

  test('a sender below the minimum rate gets 408', async () => {
    slow = await startGateway(sql, { slowClientTimeout: 0.5, uploadOptions: { minUploadRate: 100_000 } });
    const upload = beginUpload(slow, '/api/store');
    upload.write(fileHead('a.txt'));
    const timer = setInterval(() => upload.write('x'), 20);
    const response = await upload.response;
    clearInterval(timer);
    upload.socket.destroy();
    expect(response).toMatch(/^HTTP\/1\.1 408 [^]*The upload is slower than 100000 bytes per second\./);
    await expectNothingLeft(slow.database);
  });

  test('a sender that stops gets 408, also before the first byte', async () => {
    slow = await startGateway(sql, { slowClientTimeout: 0.3 });
    const upload = beginUpload(slow, '/api/store');
    expect(await upload.response).toMatch(/^HTTP\/1\.1 408 /);
    upload.socket.destroy();
  });

  test('without a minimum rate, a sender may stop for any time', async () => {
    slow = await startGateway(sql, { slowClientTimeout: 0.001, uploadOptions: { minUploadRate: 0 } });
    const upload = beginUpload(slow, '/api/store');
    upload.write(`${fileHead('a.txt')}hello`);
    const { database } = slow;
    await expect.poll(async () => (await leftovers(database)).transactions).toBe(1);
    upload.write(formEnd);
    endUpload(upload);
    expect(await upload.response).toMatch(/^HTTP\/1\.1 200 [^]*"size":5/);
    upload.socket.destroy();
  });

  test('a slow sender above the minimum rate is served', async () => {
    slow = await startGateway(sql, { slowClientTimeout: 0.5, uploadOptions: { minUploadRate: 10 } });
    const upload = beginUpload(slow, '/api/store');
    upload.write(fileHead('a.txt'));
    let sent = 0;
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        upload.write('xxxxx');
        sent += 5;
        if (sent < 150) return;
        clearInterval(timer);
        resolve();
      }, 20);
    });
    upload.write(formEnd);
    endUpload(upload);
    expect(await upload.response).toMatch(/^HTTP\/1\.1 200 [^]*"size":150/);
    upload.socket.destroy();
  });
});
