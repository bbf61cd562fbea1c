import { holdLock, startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { plain, problem, problemOf } from '../behaviour/support.ts';
import { beginUpload, endUpload, expectNothingLeft, fileHead, form, formEnd, leftovers } from './forms.ts';

const sql = `
  create function store(_meta json) returns json language sql as 'select _meta';
  comment on function store is 'HTTP
  upload _meta as metadata';

  create table kept (files json, constraint few check (json_array_length(files) < 3));
  create constraint trigger late after insert on kept deferrable initially deferred for each row execute function no_more();

  create function keep(_meta json) returns int language sql as 'insert into kept values (_meta) returning 1';
  comment on function keep is 'HTTP
  upload _meta as metadata';

  create function wait(_meta json) returns int language sql as 'select 1 from pg_advisory_xact_lock(1)';
  comment on function wait is 'HTTP
  upload _meta as metadata';

  create function ping() returns text language sql as $$ select 'pong' $$;
  comment on function ping is 'HTTP GET';

  create function state() returns text language sql stable as
    $$ select concat(current_user = session_user, ',', current_setting('app.left', true), to_regclass('left_table')) $$;
  comment on function state is 'HTTP GET';

  create function leave(_meta json) returns text language plpgsql as
    $$ begin perform set_config('app.left', 'left', false); create temp table left_table (a int); return 'done'; end $$;
  comment on function leave is 'HTTP
  upload _meta as metadata';
`;
const trigger = `
  create function no_more() returns trigger language plpgsql as
    $$ begin if (select count(*) from kept) > 1 then raise exception 'too many' using errcode = '23514'; end if; return null; end $$;`;

const gateway = useGateway(trigger + sql, { poolSize: 4 });
const nothing = { objects: 0, transactions: 0 };
const reset = `delete from kept; select lo_unlink(oid) from pg_largeobject_metadata`;

afterEach(async () => {
  await gateway.database.query(reset);
  await expectNothingLeft(gateway.database);
});

describe('files and call are one transaction', () => {
  test('the call sees the files, and others see both only after it', async () => {
    const upload = beginUpload(gateway, '/api/keep');
    upload.write(`${fileHead('a.txt')}hello`);
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(1);
    expect(await leftovers(gateway.database)).toEqual({ objects: 0, transactions: 1 });
    upload.write(formEnd);
    endUpload(upload);
    expect(await upload.response).toMatch(/^HTTP\/1\.1 200 /);
    upload.socket.destroy();
    expect(await leftovers(gateway.database)).toEqual({ objects: 1, transactions: 0 });
  });

  test('an error of the commit: the response is that error, and nothing stays', async () => {
    expect((await gateway.send('POST /api/keep', { body: form(['a', 'x']) })).status).toBe(200);
    const answer = await gateway.send('POST /api/keep', { body: form(['b', 'y']) });
    expect(problem(answer)).toMatchObject(problemOf(400, { title: 'too many' }));
    expect(await leftovers(gateway.database)).toEqual({ objects: 1, transactions: 0 });
  });

  test('a violated constraint', async () => {
    const answer = await gateway.send('POST /api/keep', { body: form(['a', 'x'], ['b', 'x'], ['c', 'x']) });
    expect(problem(answer)).toMatchObject(problemOf(400, { constraint: 'few' }));
    expect(await leftovers(gateway.database)).toEqual(nothing);
  });

  test('the connection dies in the middle of the upload: 503, and nothing stays', async () => {
    const upload = beginUpload(gateway, '/api/store');
    upload.write(`${fileHead('a.txt')}hello`);
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(1);
    await gateway.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state like '%transaction%' and pid <> pg_backend_pid()`,
    );
    upload.write(Buffer.alloc(3_000_000, 'x'));
    upload.write(formEnd);
    endUpload(upload);
    expect(await upload.response).toMatch(/^HTTP\/1\.1 503 [^]*database-unavailable/);
    upload.socket.destroy();
  });

  test('a client that leaves during the call: the call is cancelled, and nothing stays', async () => {
    const lock = await holdLock(gateway.database.connectionString, 1);
    const upload = beginUpload(gateway, '/api/wait');
    upload.write(`${fileHead('a.txt')}hello${formEnd}`);
    endUpload(upload);
    await expect.poll(() => lock.waiting()).toBe(1);
    upload.socket.destroy();
    await expect.poll(() => lock.waiting()).toBe(0);
    await expect.poll(() => leftovers(gateway.database)).toEqual(nothing);
    await lock.release();
  });
});

describe('the connection afterwards', () => {
  let small: TestGateway | undefined;
  afterEach(async () => {
    await small?.close();
    small = undefined;
  });

  test('has no state of the routine', async () => {
    small = await startGateway(trigger + sql, { poolSize: 1 });
    for (let round = 0; round < 3; round++) {
      expect(plain(await small.send('POST /api/leave', { body: form(['a', 'x']) }))).toMatchObject({ body: 'done' });
      expect((await small.send('GET /api/state')).body).toBe('t,');
    }
  });
});

describe('uploads and the pool', () => {
  test('twice as many slow uploads as connections leave other calls untouched', async () => {
    const uploads = Array.from({ length: 8 }, () => beginUpload(gateway, '/api/store'));
    for (const upload of uploads) upload.write(`${fileHead('a.txt')}hello`);
    // Half of the four connections.
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(2);
    const pings = await Promise.all(Array.from({ length: 50 }, () => gateway.send('GET /api/ping')));
    expect(new Set(pings.map(({ body }) => body))).toEqual(new Set(['pong']));
    expect((await leftovers(gateway.database)).transactions).toBe(2);
    for (const upload of uploads) {
      upload.write(formEnd);
      endUpload(upload);
    }
    const responses = await Promise.all(uploads.map(({ response }) => response));
    for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 200 [^]*"size":5/);
    for (const { socket } of uploads) socket.destroy();
  });

  test('an upload that waits too long for a connection gets 503 with Retry-After', async () => {
    const waiting = await startGateway(trigger + sql, {
      poolSize: 4,
      uploadOptions: { maxUploadConnections: 1, uploadQueueTimeout: 0.1 },
    });
    try {
      const first = beginUpload(waiting, '/api/store');
      first.write(`${fileHead('a.txt')}hello`);
      await expect.poll(async () => (await leftovers(waiting.database)).transactions).toBe(1);
      const answer = await waiting.send('POST /api/store', { body: form(['b', 'x']) });
      expect(problem(answer)).toMatchObject(problemOf(503));
      expect(answer.headers.get('retry-after')).toBe('1');
      first.socket.destroy();
    } finally {
      await waiting.close();
    }
  });

  test('a waiting upload whose client leaves frees its place', async () => {
    const uploads = Array.from({ length: 6 }, () => beginUpload(gateway, '/api/store'));
    for (const upload of uploads) upload.write(`${fileHead('a.txt')}hello`);
    await expect.poll(async () => (await leftovers(gateway.database)).transactions).toBe(2);
    for (const { socket } of uploads) socket.destroy();
    await expect.poll(() => leftovers(gateway.database)).toEqual(nothing);
    expect((await gateway.send('POST /api/store', { body: form(['b', 'x']) })).status).toBe(200);
  });
});
