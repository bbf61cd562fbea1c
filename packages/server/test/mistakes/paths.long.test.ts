/** Paths that no endpoint has, with the whole response. */
import { request } from 'node:http';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { runServer } from '../support/run-server.ts';

const database = useDatabase(`
  create table note (id int primary key, body text);
  comment on table note is 'HTTP';
  create function add_note(_body text) returns int language sql as $$ select 1 $$;
  comment on function add_note is 'HTTP';
  create function note_words(_id int) returns int language sql stable as $$ select 1 $$;
  comment on function note_words is 'HTTP GET /notes/{id}/words';
  create function monthly_revenue() returns int language sql stable as $$ select 1 $$;
  comment on function monthly_revenue is 'HTTP GET
  internal';
`);

/** Serves with the settings until the test has ended. Returns a function that sends a request, with its header lines, and returns the text. */
async function serve(
  settings: object = {},
): Promise<(line: string, headers?: Record<string, string>) => Promise<string>> {
  const file = { connectionString: database.connectionString, port: 0, crud: { enabled: true }, ...settings };
  const { url } = await runServer(await folderWith({ 'pgway.json': file }));
  return (line, headers = {}) => {
    const [method, path] = line.split(' ') as [string, string];
    return new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers }, (response) => {
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      });
      sent.on('error', reject).end();
    });
  };
}

const notFound = '404 {"type":"about:blank","title":"Not found","status":404}';

test('a program on this machine gets the nearest endpoint', async () => {
  const send = await serve();
  const meant = (hint: string): string => notFound.replace('}', `,"hint":"Did you mean ${hint}?"}`);
  expect(await send('POST /api/add_note')).toBe(meant('POST /api/add-note'));
  expect(await send('GET /api/add-noet')).toBe(meant('POST /api/add-note'));
  expect(await send('POST /add-note?body=x')).toBe(meant('POST /api/add-note'));
  expect(await send('POST /addNote')).toBe(meant('POST /api/add-note'));
  expect(await send('GET /api/notes?id=1')).toBe(meant('GET /api/note'));
  expect(await send('DELETE /api/notes?id=1')).toBe(meant('DELETE /api/note'));
  expect(await send('GET /note/7/words')).toBe(meant('GET /notes/7/words'));
  expect(await send('GET /favicon.ico')).toBe(notFound);
  // An internal endpoint has no path for clients.
  expect(await send('GET /api/monthly-revenu')).toBe(notFound);
  expect(await send(`GET /api/${'note'.repeat(40)}`)).toBe(notFound);
});

test('outsiders are told nothing: through a proxy, with another name of the host, or in production', async () => {
  const send = await serve({ allowedHosts: ['api.example.org'] });
  expect(await send('POST /api/add_note', { 'x-forwarded-for': '203.0.113.7' })).toBe(notFound);
  expect(await send('POST /api/add_note', { via: '1.1 proxy' })).toBe(notFound);
  expect(await send('POST /api/add_note', { host: 'api.example.org' })).toBe(notFound);
  const inProduction = await serve({ authentication: { production: true } });
  expect(await inProduction('POST /api/add_note')).toBe(notFound);
});

test('errors as text', async () => {
  const send = await serve({ gateway: { errorFormat: 'text' } });
  expect(await send('POST /api/add_note')).toBe('404 Not found; did you mean POST /api/add-note?');
});
