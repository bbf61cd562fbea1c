import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
`);

const tls = ['--tls.certificate=server.crt', '--tls.key=server.key'];

test('serves HTTPS at the printed URL, redirects to it, and warns of an expired certificate', async () => {
  const { certificate, key } = await createCertificate({ validFrom: -3, validTo: -1 });
  const process = createTestProcess(await folderWith({ 'server.crt': certificate, 'server.key': key }));
  const connection = `--connectionString=${database.connectionString}`;
  const ended = run([connection, '--port=0', ...tls, '--tls.redirectPort=0'], {}, process);
  onTestFinished(async () => {
    process.sendStop('forced');
    await ended;
  });
  await process.until('are redirected to HTTPS');
  const { stdout } = process.text;
  expect(stdout).toMatch(/warn +the TLS certificate expired on \d{4}-\d\d-\d\d: clients reject it; replace the files/);
  const [url] = /https:\/\/127\.0\.0\.1:\d+/.exec(stdout)!;
  expect(stdout).toContain(`Try:  curl ${url}/api/hello`);
  const [, redirectPort] = /Requests to port (\d+) are redirected to HTTPS\./.exec(stdout)!;

  const redirect = await fetch(`http://127.0.0.1:${redirectPort}/api/hello`, { redirect: 'manual' });
  expect([redirect.status, redirect.headers.get('location')]).toEqual([308, `${url}/api/hello`]);
  await process.until(/\b308\b/);
  const [response] = (await once(request(`${url}/api/hello`, { rejectUnauthorized: false }).end(), 'response')) as [
    IncomingMessage,
  ];
  expect([response.statusCode, await response.setEncoding('utf8').toArray()]).toEqual([200, ['Hello']]);
});

test.each(['serve', 'validate'])('%s: a key of another certificate is one line, and exit code 2', async (command) => {
  const [{ certificate }, { key }] = [await createCertificate(), await createCertificate()];
  const process = createTestProcess(await folderWith({ 'server.crt': certificate, 'server.key': key }));
  const argv = [...(command === 'serve' ? [] : [command]), '--connectionString=postgres://127.0.0.1:1/none', ...tls];
  expect(await run(argv, {}, process)).toBe(2);
  expect(process.text.stderr).toBe(
    'pgway: tls.key: the private key in server.key does not belong to the certificate in server.crt\n',
  );
});
