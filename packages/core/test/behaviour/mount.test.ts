/** A gateway that a host mounts below a path which does not fit the paths of its endpoints: the warning of the process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from '@pgway/core';
import { gatewayPlugin } from '@pgway/core/fastify';
import { useGateway } from '@pgway/testing';
import express from 'express';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';

const gateway = useGateway(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP';
`);

/** Returns the warnings of the process from now on. */
function collectWarnings(): readonly string[] {
  const warnings: string[] = [];
  const listener = (warning: Error & { readonly code?: string }): void => {
    if (warning.code === 'PGWAY_MOUNT') warnings.push(warning.message);
  };
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  return warnings;
}

async function serveExpress(path: string): Promise<(path: string) => Promise<string>> {
  const own = await createGateway(gateway.database.connectionString);
  const app = express();
  app.use(path, own.middleware);
  app.use((_request, response) => void response.status(404).send('of the host'));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.close();
    await own.close();
  });
  const { port } = server.address() as AddressInfo;
  return async (requested) => {
    const response = await fetch(`http://127.0.0.1:${port}${requested}`);
    return `${response.status} ${await response.text()}`;
  };
}

test('app.use with the prefix of the endpoints: one warning, at the first request of an endpoint', async () => {
  const warnings = collectWarnings();
  const send = await serveExpress('/api');
  expect(await send('/api/nothing')).toBe('404 of the host');
  expect(await send('/api/hello?x=1')).toBe('404 of the host');
  expect(await send('/api/hello')).toBe('404 of the host');
  expect(await send('/api/api/hello')).toBe('200 Hello');
  await expect
    .poll(() => warnings)
    .toEqual([
      'the gateway is mounted at "/api", which the host removes from URLs, so that "/api/hello" is at "/api/api/hello": mount it without a path, as in app.use(gateway.middleware)',
    ]);
});

test('app.use with another path is intended', async () => {
  const warnings = collectWarnings();
  const send = await serveExpress('/v1');
  expect(await send('/v1/api/hello')).toBe('200 Hello');
  expect(await send('/v1/hello')).toBe('404 of the host');
  expect(warnings).toEqual([]);
});

test('a prefix of the plugin below which no endpoint is: a warning at the start', async () => {
  const warnings = collectWarnings();
  const send = async (prefix: string, url: string): Promise<string> => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(gatewayPlugin, { gateway: gateway.gateway, prefix });
    const { statusCode, body } = await app.inject(url);
    return `${statusCode} ${body}`;
  };
  expect(await send('/api', '/api/hello')).toBe('200 Hello');
  expect(await send('/v1', '/v1/api/hello')).toBe(
    '404 {"message":"Route GET:/v1/api/hello not found","error":"Not Found","statusCode":404}',
  );
  await expect
    .poll(() => warnings)
    .toEqual([
      'the plugin has the prefix "/v1", and no path of an endpoint begins with it, such as "/api/hello": register it without a prefix, or set the option urlPathPrefix of the gateway to "/v1"',
    ]);
});
