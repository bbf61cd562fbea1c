import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useGateway } from '@pgway/testing';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, compile, folderWith } from './support.ts';

/** The generated client sends files to its gateway, from Node and from a page in a browser. */

const gateway = useGateway(
  `
create function put_photos(_album text, _files json default null) returns json language plpgsql as $$
begin
  if _album = 'none' then raise exception 'There is no album %', _album using hint = 'Create it.'; end if;
  if _album = 'slow' then perform pg_sleep(20); end if;
  return json_build_object('album', _album, 'files', (
    select json_agg(json_build_array(file -> 'fileName', file -> 'contentType', file -> 'size', file -> 'status',
      pg_catalog.convert_from(lo_get((file ->> 'oid')::oid, 0, 4), 'UTF8')))
    from json_array_elements(_files) as file));
end $$;
comment on function put_photos is 'HTTP
upload for large_object, _files as metadata';

create function put_quietly(_files json default null) returns void language sql as $$ $$;
comment on function put_quietly is 'HTTP
upload _files as metadata
tsclient_status_code = on';
`,
  { uploadOptions: { maxFileSize: 8_000_000 } },
);

// oxlint-disable-next-line typescript/no-explicit-any -- the module does not exist before the test
type Client = any;

/** The calls of the test. Runs in Node and in a browser. */
async function conversation(client: Client): Promise<unknown> {
  const steps: { readonly loaded: number; readonly total: number }[] = [];
  const onProgress = (step: { loaded: number; total: number }): void => void steps.push(step);
  const photo = new File(['photo of a cat'], 'cat.jpg', { type: 'image/jpeg' });
  const big = new File([new Uint8Array(3_000_000).fill(97)], 'big.bin');
  const several = await client.putPhotos([photo, new Blob(['blob'])], { album: 'pets & more' });
  const withProgress = await client.putPhotos([big, photo], { album: 'a' }, { onProgress });
  const failure = (error: Client): unknown => [
    error instanceof client.GatewayError,
    error.status,
    error.message,
    error.problem?.hint,
    error.headers?.get('content-type'),
  ];
  const aborted = new AbortController();
  const abortAtOnce = (): void => aborted.abort();
  const statuses: number[] = [];
  const onResponse = ({ status }: { status: number }): void => void statuses.push(status);
  return {
    several,
    withProgress,
    progress: {
      grows: steps.every(({ loaded }, index) => index === 0 || loaded >= steps[index - 1]!.loaded),
      isWhole: steps.at(-1)!.loaded === steps.at(-1)!.total,
      hasSize: steps.at(-1)!.total >= 3_000_000,
    },
    refused: [
      await client.putPhotos(photo, { album: 'none' }, { onResponse }).catch(failure),
      await client.putPhotos(photo, { album: 'none' }, { onResponse, onProgress }).catch(failure),
    ],
    statuses,
    aborted: [
      await client
        .putPhotos(big, { album: 'slow' }, { onProgress: abortAtOnce, signal: aborted.signal })
        .catch((error: Error) => error.name),
      await client
        .putPhotos(big, { album: 'a' }, { onProgress, signal: aborted.signal })
        .catch((error: Error) => error.name),
      await client
        .putPhotos(big, { album: 'a' }, { onProgress, signal: AbortSignal.abort(new Error('enough')) })
        .catch((error: Error) => error.message),
    ],
    quiet: await client.putQuietly(photo).then((result: Client) => [result.status, result.response, result.problem]),
    quietProgress: await client
      .putQuietly(photo, { onProgress })
      .then((result: Client) => [result.status, result.problem]),
  };
}

const expected = {
  several: {
    album: 'pets & more',
    files: [
      ['cat.jpg', 'image/jpeg', 14, 'Ok', 'phot'],
      ['file', 'application/octet-stream', 4, 'Ok', 'blob'],
    ],
  },
  withProgress: {
    album: 'a',
    files: [
      ['big.bin', 'application/octet-stream', 3_000_000, 'Ok', 'aaaa'],
      ['cat.jpg', 'image/jpeg', 14, 'Ok', 'phot'],
    ],
  },
  progress: { grows: true, isWhole: true, hasSize: true },
  refused: [
    [true, 400, 'There is no album none', 'Create it.', 'application/problem+json'],
    [true, 400, 'There is no album none', 'Create it.', 'application/problem+json'],
  ],
  statuses: [400, 400],
  aborted: ['AbortError', 'AbortError', 'enough'],
  quiet: [204, undefined, undefined],
  quietProgress: [204, undefined],
};

/** The large objects of a failed or aborted upload are gone. */
async function countObjects(): Promise<unknown> {
  const [row] = await gateway.database.query('select count(*)::int as n from pg_largeobject_metadata');
  return row!['n'];
}

test('compiles in strict mode', async () => {
  expect(await compile(clientOf(gateway.gateway.endpoints))).toBe('');
});

test('in Node', async () => {
  const { folder, remove } = await folderWith(
    clientOf(gateway.gateway.endpoints, { customHost: gateway.url, skipTypes: true, filePath: 'client.mts' }),
  );
  try {
    const client: Client = await import(pathToFileURL(join(folder, 'client.mjs')).href);
    const before = (await countObjects()) as number;
    expect(await conversation(client)).toEqual(expected);
    // Two calls with two files, and two with one file.
    await expect.poll(countObjects).toBe(before + 6);
    const large = new File([new Uint8Array(8_000_001)], 'large.bin');
    await expect(client.putPhotos(large, { album: 'a' })).rejects.toMatchObject({ name: 'GatewayError', status: 413 });
    await expect.poll(countObjects).toBe(before + 6);
  } finally {
    await remove();
  }
});

const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

describe.skipIf(browser === undefined)('in a browser (skipped where there is no Chromium)', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    const [script] = clientOf(gateway.gateway.endpoints, { skipTypes: true });
    server = createServer((request, response) => {
      if (request.url === '/client.js') response.setHeader('content-type', 'text/javascript').end(script!.content);
      else if (request.url === '/') response.setHeader('content-type', 'text/html').end('<!doctype html>');
      else gateway.gateway.middleware(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a page that imports the module', async () => {
    const started = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
    try {
      const page = await started.newPage();
      await page.goto(`${origin}/`);
      const before = (await countObjects()) as number;
      const told = await page.evaluate(`import('/client.js').then(${conversation.toString()})`);
      expect(told).toEqual(expected);
      await expect.poll(countObjects).toBe(before + 6);
    } finally {
      await started.close();
    }
  });
});
