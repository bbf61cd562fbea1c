import { expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { listen } from '../../src/http/http-server.ts';

test('a handler that throws: a 500 without the reason, an observed error, and further requests are served', async () => {
  const errors: unknown[] = [];
  const server = await listen(
    parseConfiguration({ port: 0 }),
    ({ url }, response) => {
      if (url === '/late') response.writeHead(200).write('part');
      if (url !== '/fine') throw new Error(`broken ${url}`);
      response.end('fine');
    },
    { onError: ({ message }, { method, url }) => void errors.push([message, method, url]) },
  );
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, response.headers.get('content-type'), await response.text()];
  };

  expect(await get('/early')).toEqual([
    500,
    'application/problem+json',
    '{"type":"about:blank","title":"Internal server error","status":500}',
  ]);
  await expect(get('/late')).rejects.toThrow(/terminated|fetch failed/);
  expect(await get('/fine')).toEqual([200, null, 'fine']);
  expect(errors).toEqual([
    ['broken /early', 'GET', '/early'],
    ['broken /late', 'GET', '/late'],
  ]);
});
