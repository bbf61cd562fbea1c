import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { type HttpServer, listen } from '../../src/http/http-server.ts';

const database = useDatabase(`
  create function add_file(_files json default null) returns text language sql volatile as $$ select 'added' $$;
  comment on function add_file(json) is E'HTTP POST\\nupload for large_object\\nparam _files is upload metadata';
`);

let server: HttpServer;

beforeAll(async () => {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    uploadOptions: { maxFileSize: 1_000_000 },
  });
  server = await listen(parseConfiguration({ port: 0 }), gateway.middleware);
  return async () => {
    await server.stop(0, AbortSignal.abort());
    await gateway.close();
  };
});

/** The head of a form with one file, which never ends. */
const head = [
  'POST /api/add-file HTTP/1.1',
  'Host: localhost',
  'Content-Type: multipart/form-data; boundary=x',
  'Content-Length: 200000000',
  '',
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n',
].join('\r\n');

describe('a file past the limit', () => {
  test('the connection is closed when the client does not stop', async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    let response = '';
    socket.on('data', (data) => (response += data.toString())).on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(head);
    socket.write(Buffer.alloc(2_000_000));
    const ticker = setInterval(() => socket.write('x'), 50);
    await closed.finally(() => clearInterval(ticker));
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('curl receives the response', async () => {
    const url = `http://127.0.0.1:${server.port}/api/add-file`;
    const curl = promisify(execFile)('bash', [
      '-c',
      `head -c 200000000 /dev/zero | curl -s -F file=@- -w ' %{http_code}' ${url}`,
    ]);
    expect((await curl).stdout).toMatch(/body-too-large.* 413$/);
  });

  test('fetch receives the response', async () => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(100_000_000)]), 'a.bin');
    const response = await fetch(`http://127.0.0.1:${server.port}/api/add-file`, { method: 'POST', body });
    expect([response.status, await response.json()]).toMatchObject([413, { type: 'urn:pgway:problem:body-too-large' }]);
  });
});
