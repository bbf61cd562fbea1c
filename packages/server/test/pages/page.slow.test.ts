import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { root } from '../docs/stage.ts';
import { endpointOf, hasChromium, openEndpoint, sendForm, useStartPage } from './page-fixture.ts';

/* The start page in a browser: the list, forms, sign-in, uploads, events. */

const png = readFileSync(join(root, 'examples/library/cover.png'));

const database = useDatabase(`
  create type mood as enum ('fine', 'so so');
  create function greet(_name text, _mood mood default 'fine', _days int[] default '{}') returns json language sql stable as
    $$ select json_build_object('name', _name, 'mood', _mood, 'days', _days) $$;
  comment on function greet is 'Says hello.
  In any mood.
  HTTP GET /api/greet/{name}';
  create function save(_id bigint, _price numeric, _at timestamptz default null, _ok boolean default null, _note json default null)
  returns json language sql as
    $$ select json_build_object('id', _id, 'price', _price, 'ok', _ok, 'note', _note) $$;
  comment on function save is 'HTTP';
  create function refuse() returns int language plpgsql as $$ begin raise exception 'Not <b>today</b>.' using hint = 'Come tomorrow.'; end $$;
  comment on function refuse is 'HTTP';
  create function count_up(_to int) returns setof int language sql stable as $$ select generate_series(1, _to) $$;
  comment on function count_up is 'HTTP';
  create function films() returns table (id bigint, title text, tags text[], rated numeric) language sql stable as $$
    values (9007199254740993, 'Metropolis', array['a', 'b'], 8.30), (2, E'M, a "city"\nof', null, 9), (10, '<b>Alien</b>', '{}', null) $$;
  comment on function films is 'HTTP';
  create function picture() returns bytea language sql stable as $$ select '\\x${png.toString('hex')}'::bytea $$;
  comment on function picture is 'HTTP
  Content-Type: image/png';
  create function bytes() returns bytea language sql stable as $$ select '\\x00ff'::bytea $$;
  comment on function bytes is 'HTTP';

  create schema staff;
  create function staff.enter(_name text, _password text, _scheme text default 'cookie')
  returns table (id text, name text, roles text[], scheme text) language sql as
    $$ select '7', _name, array['clerk'], _scheme where _password = 'secret' $$;
  comment on function staff.enter is 'HTTP
  login';
  create function staff.leave() returns void language sql as '';
  comment on function staff.leave is 'HTTP
  logout';
  create function staff.note(_text text) returns text language sql as $$ select 'noted ' || _text $$;
  comment on function staff.note is 'HTTP
  authorize clerk, manager';

  create function staff.door() returns text language sql stable as $$ select 'open' $$;
  comment on function staff.door is 'HTTP
  basic_authentication
  challenge_command = select $1 as name where $1 = ''Ada'' and $2 = ''pä:ss''';

  create function import_files(_meta json default null) returns json language sql as $$ select _meta $$;
  comment on function import_files is 'HTTP
  upload for large_object
  param _meta is upload metadata';
  create function work(_steps int) returns void language plpgsql as $$ begin
    for step in 1.._steps loop raise info 'step % <i>of</i> %', step, _steps; end loop;
  end $$;
  comment on function work is 'HTTP
  info_path';
`);
const startPage = useStartPage(() => database.connectionString, {
  cookie: { enabled: true },
  bearer: { enabled: true },
  authentication: { antiforgeryPath: '/api/antiforgery' },
  openApi: { path: '/openapi.json', docsPath: '/docs' },
  httpFile: { path: '/api.http' },
});

describe.skipIf(!hasChromium)('in a browser (skipped where there is no Chromium)', () => {
  test('lists the endpoints by schema, and links to documents that exist', async () => {
    const { page, errors } = await startPage.open();
    expect(await page.title()).toBe('shop');
    expect(await page.getByRole('heading').allInnerTexts()).toEqual([
      'shop',
      'public 9',
      'Functions',
      'staff 4',
      'Functions',
    ]);
    expect(await page.locator('.endpoint > summary').allInnerTexts()).toEqual(
      [
        ['GET', '/api/bytes', 'bytea'],
        ['GET', '/api/count-up', 'list of integer'],
        ['GET', '/api/films', 'rows of id, title, tags, rated'],
        ['GET', '/api/greet/{name}', 'Says hello.'],
        ['POST', '/api/import-files', 'json', 'upload'],
        ['GET', '/api/picture', 'bytea'],
        ['POST', '/api/refuse', 'integer'],
        ['POST', '/api/save', 'json'],
        ['POST', '/api/work', 'events'],
        ['GET', '/api/staff/door', 'text', 'signed in'],
        ['POST', '/api/staff/enter', 'rows of id, name, roles, scheme', 'login'],
        ['POST', '/api/staff/leave', 'logout'],
        ['POST', '/api/staff/note', 'text', 'clerk, manager'],
      ].map((parts) => parts.join('\n')),
    );
    const links = await page.getByRole('navigation', { name: 'Documents' }).getByRole('link').all();
    expect(await Promise.all(links.map((link) => link.innerText()))).toEqual([
      'API docs',
      'OpenAPI',
      'Request file',
      'Health',
    ]);
    for (const link of links) expect((await fetch((await link.getAttribute('href'))!)).status).toBe(200);
    expect(errors).toEqual([]);
  });

  test('filters by words of path, schema, role and description', async () => {
    const { page } = await startPage.open();
    const expectShown = async (text: string, paths: readonly string[]): Promise<void> => {
      await page.getByLabel('Filter endpoints').fill(text);
      // The page filters at the next frame.
      await expect.poll(() => page.locator('.endpoint:visible .path').allInnerTexts()).toEqual(paths);
    };
    await expectShown('staff ENT', ['/api/staff/enter']);
    expect(await page.getByRole('heading', { name: /public/ }).isVisible()).toBe(false);
    expect(await page.getByText('1 of 13 endpoints').isVisible()).toBe(true);
    await expectShown('manager', ['/api/staff/note']);
    await expectShown('any mood', ['/api/greet/{name}']);
    expect(await page.locator('.sidebar summary:visible .count').allInnerTexts()).toEqual(['1']);
    await expectShown('nothing like it', []);
    await page.getByText('No endpoint has these words.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.endpoint:visible').count()).toBe(13);
    expect(await page.getByText('No endpoint has these words.').isVisible()).toBe(false);
    await page.locator('.endpoint:visible > summary').first().focus();
    await page.keyboard.press('Control+k');
    expect(await page.locator(':focus').getAttribute('id')).toBe('filter');
  });

  test('calls a GET with values in path and query string', async () => {
    const { page, errors } = await startPage.open();
    const greet = await openEndpoint(page, 'greetName');
    expect(await greet.locator('.about').innerText()).toBe(
      'Says hello.\nIn any mood.\n\nSQL\npublic.greet(_name text, _mood public.mood, _days integer[])\nTags\nfunction, stable',
    );
    await greet.getByLabel('name').fill('A/da');
    await greet.getByLabel('mood').selectOption('so so');
    await greet.getByLabel('days').fill('1\n2');
    expect(await greet.locator('.request-line').innerText()).toBe('GET /api/greet/A%2Fda?mood=so%20so&days=1&days=2');
    expect(await sendForm(greet)).toEqual([
      '200 OK',
      '{\n  "name": "A/da",\n  "mood": "so so",\n  "days": [\n    1,\n    2\n  ]\n}',
    ]);
    expect(await greet.locator('.outcome').innerText()).toMatch(/^200 OK\n\d+ ms\n51 bytes$/);
    await greet.getByText(/^Headers/).click();
    expect(await greet.locator('.response dl').innerText()).toMatch(/content-type\napplication\/json\n/);
    expect(page.url()).toBe(`${startPage.origin}/#greetName`);
    await greet.getByLabel('days').fill('1234567890\n'.repeat(300));
    expect(await greet.locator('.request-line').innerText()).toBe('QUERY /api/greet/A%2Fda');
    expect(await greet.locator('.preview').innerText()).toContain('The query string is the body');
    expect((await sendForm(greet))[0]).toBe('200 OK');
    await greet.getByLabel('days').fill('1');
    expect(await greet.locator('.preview').innerText()).toBe('GET /api/greet/A%2Fda?mood=so%20so&days=1');
    expect(errors).toEqual([]);
  });

  test('calls a POST whose body the inputs make, or that is edited', async () => {
    const { page, errors } = await startPage.open({ hash: '#save' });
    const save = endpointOf(page, 'save');
    await save.getByLabel('id').fill('9007199254740993');
    await save.getByLabel('price').fill('1.50');
    await save.getByLabel('ok').selectOption('false');
    await save.getByLabel('note').fill('{"a": [1]}');
    const body = save.getByLabel('Request body');
    expect(await body.inputValue()).toBe(
      '{\n  "id": 9007199254740993,\n  "price": 1.50,\n  "ok": false,\n  "note": {"a": [1]}\n}',
    );
    expect((await sendForm(save))[1]).toContain('"id": 9007199254740993,\n  "price": 1.50,');
    await body.fill('{"id": 1, "price": "NaN", "note": null}');
    await save.getByLabel('ok').selectOption('true');
    expect((await sendForm(save))[1]).toContain('"price": "NaN",\n  "ok": null');
    await body.fill('');
    await save.getByLabel('price').fill('2');
    expect(await body.inputValue()).toContain('"price": 2,');
    expect(errors).toEqual([]);
  });

  test('shows errors of the database and of the request', async () => {
    const { page, errors } = await startPage.open();
    const refuse = await openEndpoint(page, 'refuse');
    const [status, body] = await sendForm(refuse);
    expect(status).toBe('400 Bad Request');
    expect(body).toContain('"title": "Not <b>today</b>."');
    const greet = await openEndpoint(page, 'greetName');
    await greet.getByLabel('name').fill('Ada');
    await greet.getByLabel('days').fill('soon');
    expect((await sendForm(greet))[1]).toContain('"parameters": [\n    "days"\n  ]');
    await page.context().setOffline(true);
    await greet.getByRole('button', { name: 'Send', exact: true }).click();
    await greet.getByText('No response').waitFor();
    await page.context().setOffline(false);
    await greet.getByLabel('name').fill('..');
    await greet.getByRole('button', { name: 'Send', exact: true }).click();
    expect(
      await greet
        .getByLabel('name')
        .evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage),
    ).not.toBe('');
    expect(await greet.getByText('No response').isVisible()).toBe(true);
    expect(errors).toEqual([]);
  });

  test('a call can be cancelled, and a large body is shown in part', async () => {
    const { page } = await startPage.open();
    const counting = await openEndpoint(page, 'countUp');
    await counting.getByLabel('to').fill('3000000');
    const send = counting.getByRole('button', { name: 'Send', exact: true });
    await send.click();
    await counting.getByText('Only the beginning of 22.9 MB is shown.').waitFor();
    expect((await counting.locator('.body').innerText()).length).toBeLessThan(70_000);
    expect(await counting.getByText('Save the response').count()).toBe(0);
    await counting.getByLabel('to').fill('2000000000');
    await send.press('Enter');
    await counting.getByRole('button', { name: 'Cancel' }).click();
    await counting.getByText('Cancelled').waitFor();
  });

  test('shows rows as a table, sorts them, shows one in detail, and saves them as CSV', async () => {
    const { page, errors } = await startPage.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const films = await openEndpoint(page, 'films');
    await films.getByRole('button', { name: 'Send', exact: true }).click();
    const rows = films.locator('tbody tr');
    await expect
      .poll(() => rows.allInnerTexts())
      .toEqual([
        '9007199254740993\tMetropolis\t["a", "b"]\t8.30',
        '2\tM, a "city"\nof\tnull\t9'.replace('\n', ' '),
        '10\t<b>Alien</b>\t[]\tnull',
      ]);
    expect(await films.locator('th.number').allInnerTexts()).toEqual(['id', 'rated']);
    await films.getByRole('button', { name: 'id', exact: true }).click();
    expect(await rows.locator('td:first-child').allInnerTexts()).toEqual(['2', '10', '9007199254740993']);
    await films.locator('.sort', { hasText: 'rated' }).click();
    await films.locator('.sort', { hasText: 'rated' }).click();
    expect(await rows.locator('td:last-child').allInnerTexts()).toEqual(['9', '8.30', 'null']);
    await rows.nth(1).press('Enter');
    expect(await films.getByRole('group', { name: 'Row', exact: true }).locator('dd').allInnerTexts()).toEqual([
      '9007199254740993',
      'Metropolis',
      '["a", "b"]',
      '8.30',
    ]);
    const saved = page.waitForEvent('download');
    await films.getByText('Save as CSV').click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toBe(
      'id,title,tags,rated\r\n9007199254740993,Metropolis,"[""a"", ""b""]",8.30\r\n2,"M, a ""city""\nof",,9\r\n10,<b>Alien</b>,[],\r\n',
    );
    await films.getByRole('button', { name: 'Copy rows' }).click();
    await films.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'id\ttitle\ttags\trated\n2\tM, a "city" of\t\t9\n9007199254740993\tMetropolis\t["a", "b"]\t8.30\n10\t<b>Alien</b>\t[]\t',
    );
    await films.getByRole('button', { name: 'JSON' }).click();
    expect(await films.locator('.body').innerText()).toContain('"id": 9007199254740993,');
    await films.getByRole('button', { name: 'Copy body' }).click();
    await films.getByText('Copied').last().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^\[\{"id":9007199254740993,"title":"Metropolis"/,
    );
    expect([await films.locator('.grid').isVisible(), errors]).toEqual([false, []]);
  });

  test('shows an image, and saves other bytes', async () => {
    const { page, errors } = await startPage.open();
    const picture = await openEndpoint(page, 'picture');
    await picture.getByRole('button', { name: 'Send', exact: true }).click();
    const image = picture.getByAltText('The image of the response');
    await expect
      .poll(() => image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(220);
    const bytes = await openEndpoint(page, 'bytes');
    expect(await sendForm(bytes)).toEqual(['200 OK', '2 bytes of application/octet-stream, not shown']);
    const saved = page.waitForEvent('download');
    await bytes.getByText('Save the response').click();
    expect(readFileSync(await (await saved).path())).toEqual(Buffer.from([0, 255]));
    expect(errors).toEqual([]);
  });

  test('saves rows as a workbook', async () => {
    const { page, errors } = await startPage.open();
    const counting = await openEndpoint(page, 'countUp');
    await counting.getByLabel('to').fill('3');
    await counting.getByRole('button', { name: 'Get as Excel' }).click();
    await counting
      .getByText(/of application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet, not shown$/)
      .waitFor();
    const saved = page.waitForEvent('download');
    await counting.getByText('Save the response').click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('count_up.xlsx');
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK');
    const greet = await openEndpoint(page, 'greetName');
    // A parameter of the path without a value is not sent.
    expect(await greet.locator('.target').innerText()).toBe('/api/greet/{name}');
    expect(await greet.getByRole('button', { name: 'Get as Excel' }).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('signs in with a cookie, and sends the antiforgery token', async () => {
    const { page, errors } = await startPage.open();
    const note = await openEndpoint(page, 'staffNote');
    await note.getByLabel('text').fill('it');
    expect((await sendForm(note))[0]).toBe('401 Unauthorized');
    await note.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '/api/staff/enter' }).click();
    const enter = endpointOf(page, 'staffEnter');
    expect(await enter.getByLabel('password').getAttribute('type')).toBe('password');
    await enter.getByLabel('name').fill('Ada');
    await enter.getByLabel('password').fill('wrong');
    expect((await sendForm(enter))[0]).toBe('401 Unauthorized');
    expect(await enter.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
    await enter.getByLabel('password').fill('secret');
    expect((await sendForm(enter))[0]).toBe('200 OK');
    await page.getByText('Signed in (cookie)').waitFor();
    const request = page.waitForRequest('**/api/staff/note');
    expect(await sendForm(note).then(() => note.locator('.body').innerText())).toBe('noted it');
    expect((await request).headers()['x-xsrf-token']).toMatch(/\S{20}/);
    await page.reload();
    await page.getByText('Signed in (cookie)').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    const leave = endpointOf(page, 'staffLeave');
    await leave.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('keeps a bearer token in memory only, and out of curl commands', async () => {
    const { page, errors } = await startPage.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const enter = await openEndpoint(page, 'staffEnter');
    await enter.getByLabel('name').fill('Ada');
    await enter.getByLabel('password').fill('secret');
    await enter.getByLabel('scheme').fill('bearer');
    const [, tokens] = await sendForm(enter);
    const { access_token: token } = JSON.parse(tokens) as { readonly access_token: string };
    await page.getByText('Signed in (token)').waitFor();
    const note = await openEndpoint(page, 'staffNote');
    await note.getByLabel('text').fill(`it's`);
    const request = page.waitForRequest('**/api/staff/note');
    expect(await sendForm(note)).toEqual(['200 OK', `noted it's`]);
    expect((await request).headers()['authorization']).toBe(`Bearer ${token}`);
    await note.getByRole('button', { name: 'Copy code' }).click();
    await note.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      [
        `curl ${startPage.origin}/api/staff/note`,
        `-H 'content-type: application/json'`,
        '-H "Authorization: Bearer $TOKEN"',
        String.raw`--data-raw '{` + '\n' + String.raw`  "text": "it'\''s"` + `\n}'`,
      ].join(' \\\n  '),
    );
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
      '[{},{},""]',
    );
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();

    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Bearer token').fill(token);
    await page.getByRole('button', { name: 'Use token' }).click();
    const again = endpointOf(page, 'staffNote');
    await again.getByLabel('text').fill('this');
    expect((await sendForm(again))[1]).toBe('noted this');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await again.getByRole('button', { name: 'Send', exact: true }).click();
    await again.getByText('401 Unauthorized').waitFor();
    expect(errors).toEqual([]);
  });

  test('sends user and password to endpoints with HTTP Basic', async () => {
    const { page, errors } = await startPage.open();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('User').fill('Ada');
    await page.getByLabel('Password').fill('pä:ss');
    await page.getByRole('button', { name: 'Use password' }).click();
    await page.getByText('Signed in (HTTP Basic)').waitFor();
    const note = await openEndpoint(page, 'staffNote');
    expect((await sendForm(note))[0]).toBe('401 Unauthorized');
    const door = await openEndpoint(page, 'staffDoor');
    expect(await sendForm(door)).toEqual(['200 OK', 'open']);
    expect(errors).toEqual([]);
  });

  test('uploads files with progress', async () => {
    const { page, errors } = await startPage.open();
    const upload = await openEndpoint(page, 'importFiles');
    await upload.getByLabel('file').setInputFiles([
      { name: 'a.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_000_000, 1) },
      { name: 'b c.txt', mimeType: 'text/plain', buffer: Buffer.from('b') },
    ]);
    await page.evaluate(`
      const bar = document.querySelector('.endpoint[open] progress');
      window.values = [];
      new MutationObserver(() => values.push(bar.value)).observe(bar, { attributes: true });`);
    const [status, body] = await sendForm(upload);
    expect(status).toBe('200 OK');
    expect(
      (JSON.parse(body) as { fileName: string; size: number }[]).map(({ fileName, size }) => [fileName, size]),
    ).toEqual([
      ['a.bin', 5_000_000],
      ['b c.txt', 1],
    ]);
    expect(await page.evaluate('Math.max(...values)')).toBe(1);
    expect(errors).toEqual([]);
  });

  test('shows the live events of a call', async () => {
    const { page, errors } = await startPage.open();
    const work = await openEndpoint(page, 'work');
    await work.getByRole('button', { name: 'Watch live events' }).click();
    await work.getByText('Connected.').waitFor();
    await work.getByLabel('steps').fill('3');
    expect((await sendForm(work))[0]).toBe('204 No Content');
    const events = work.locator('.events li > span');
    await expect.poll(() => events.allInnerTexts()).toEqual([1, 2, 3].map((step) => `step ${step} <i>of</i> 3`));
    await work.getByLabel('steps').fill('700');
    await sendForm(work);
    await work.getByText('step 700 <i>of</i> 700').waitFor();
    await expect.poll(() => events.count()).toBe(500);
    await work.getByRole('button', { name: 'Stop watching' }).click();
    await work.getByText('Stopped.').waitFor();
    expect(errors).toEqual([]);
  });

  test('works with the keyboard alone', async () => {
    const { page, errors } = await startPage.open();
    await page.keyboard.press('/');
    await page.keyboard.type('greet');
    expect(await page.getByLabel('Filter endpoints').inputValue()).toBe('greet');
    // The page filters at the next frame.
    await expect.poll(() => page.locator('.endpoint:visible').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByLabel('name').waitFor();
    expect(await page.locator(':focus .path').innerText()).toBe('/api/greet/{name}');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Ada/');
    await page.keyboard.press('Control+Enter');
    await page.getByText('200 OK').waitFor();
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('id')).toBe('greetName-0');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.endpoint:visible').count()).toBe(13);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    while ((await page.locator(':focus').innerText()) !== 'Skip to the endpoints')
      await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator(':focus .path').innerText()).toBe('/api/films');
    await page.keyboard.press('ArrowUp');
    expect(await page.locator(':focus .path').innerText()).toBe('/api/count-up');
    expect(errors).toEqual([]);
  });
});
