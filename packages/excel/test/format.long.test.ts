import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crudSource, functionsSource, type ResultColumn, sqlFilesSource } from '@pgway/core';
import { excelFormat } from '@pgway/excel';
import { startGateway, useGateway } from '@pgway/testing';
import { unzipSync } from 'fflate';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { XmlBuffer } from '../src/format/xml-buffer.ts';
import { readWithLibrary, readWithOwnReader } from './read-workbook.ts';

/** Rows as workbooks. */

const files = await mkdtemp(join(tmpdir(), 'sheets-'));
afterAll(() => rm(files, { recursive: true }));
await writeFile(
  join(files, 'report.sql'),
  `-- HTTP GET
-- table_format = excel
-- excel_file_name = {title}
-- excel_sheet = {title}
select n, n * 1.5 as half_more from generate_series(1, :count::int) n where :title::text is not null`,
);

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const gateway = useGateway(
  `
  create domain price as numeric(10, 2);
  create type home as (city_name text);
  create type mood as enum ('=happy', 'sad');
  create function items() returns table (item_id int, big bigint, cost price, ratio float8, sold boolean, born date,
    made timestamp, seen timestamptz, opens time, tags text[], own_home home, data jsonb, feels mood, note text, raw bytea)
  language sql stable as $$
    values (1, 9007199254740993, 12.50, 0.1::float8, true, '2024-02-29'::date, '2024-02-03 04:05:06.789'::timestamp,
      '2024-02-03 04:05:06+00'::timestamptz, '23:59:59'::time, array['a', '=b'], row('Ulm')::home, '{"a":1}'::jsonb, '=happy'::mood, '=HYPERLINK("http://x")', '\\x01'::bytea),
      (2, null, null, null, null, null, null, null, null, null, null, null, null, '', null),
      (3, 15, 'NaN', 'Infinity', false, '1900-02-28', '10000-01-01', 'infinity', '24:00:00', '{}', null, 'null', 'sad', E'a\\u0001<b>&\\r\\n_x0041_', null)
  $$;
  comment on function items is 'HTTP GET';

  create function early_days(_text text) returns table (born date, made timestamp, seen timestamptz) language sql stable
  set datestyle = 'ISO' set timezone = 'UTC' as $$ select _text::date, _text::timestamp, _text::timestamptz $$;
  comment on function early_days is 'HTTP GET';

  create function escapes() returns setof text language sql stable as
  $$ values (E'_x0041\u0001'), (E'_x0041\r\n'), (E'_x0041\uFFFE'), (E'_x0041_x0001_'), (E'__x0041\t'), ('_x0041'), (E'_x0041\u0001_x0041_') $$;
  comment on function escapes is 'HTTP GET';

  create function nobody() returns setof int language sql stable as $$ select 1 where false $$;
  comment on function nobody is 'HTTP GET
  excel_file_name = "../ä/b.xlsx
  excel_sheet = [All]: ''people'' of the whole wide world, and more';

  create function long_texts(_length int, _rows int) returns table (text_value text) language sql stable as
  $$ select repeat('ä', _length) from generate_series(1, _rows) $$;
  comment on function long_texts is 'HTTP GET';

  create function late(_rows int) returns table (i int, text_value text) language sql stable as
  $$ select i, case when i = _rows then repeat('x', 40000) else md5(i::text) || md5((i * 7)::text) end from generate_series(1, _rows) i $$;
  comment on function late is 'HTTP GET';

  create function many(_rows int) returns table (i int, label text) language sql stable as
  $$ select i, 'row ' || i from generate_series(1, _rows) i $$;
  comment on function many is 'HTTP GET';

  create function cached_rows() returns table (i int) language sql volatile as $$ values (1), (2) $$;
  comment on function cached_rows is 'HTTP GET
  cached';

  create function own_disposition() returns setof int language sql stable as $$ values (1) $$;
  comment on function own_disposition is 'HTTP GET
  Content-Disposition: inline';

  create function records() returns setof record language sql stable as $$ values (1, 'a') $$;
  comment on function records is 'HTTP GET';

  create table film (film_id int primary key, title text);
  insert into film values (1, 'Dune'), (2, '@Alien');
  comment on table film is 'HTTP';`,
  {
    routineSources: [functionsSource(), crudSource(), sqlFilesSource({ files: ['*.sql'], folder: files })],
    rowFormats: [excelFormat()],
    batchPath: '/api/batch',
  },
);

async function load(path: string, headers: Record<string, string> = { accept: xlsx }) {
  const response = await fetch(gateway.url + path, { headers });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

const problem = 'application/problem+json';

function part(bytes: Uint8Array, name: string): string {
  return Buffer.from(unzipSync(bytes)[name]!).toString();
}

describe('cells', () => {
  test('have the types of their columns; what a type cannot hold is text', async () => {
    const { response, bytes } = await load('/api/items');
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 200,
      type: xlsx,
    });
    const headings = 'itemId,big,cost,ratio,sold,born,made,seen,opens,tags,ownHome,data,feels,note,raw'.split(',');
    const [made, seen] = [new Date('2024-02-03T04:05:06.789Z'), new Date('2024-02-03T04:05:06Z')];
    const first = [1, '9007199254740993', 12.5, 0.1, true, new Date('2024-02-29'), made, seen];
    const texts = [
      '["a","=b"]',
      '{"cityName":"Ulm"}',
      '{"a": 1}',
      '=happy',
      '=HYPERLINK("http://x")',
      String.raw`\x01`,
    ];
    const third = [3, 15, 'NaN', 'Infinity', false, '1900-02-28', '10000-01-01 00:00:00', 'infinity', '24:00:00', '[]'];
    const last = ['null', 'sad', 'a\u0001<b>&\r\n_x0041_'];
    const own = await readWithOwnReader(bytes);
    expect(own.name).toBe('items');
    expect(own.rows[0]).toEqual(headings);
    expect(own.rows[1]!.toSpliced(8, 1)).toEqual([...first, ...texts]);
    expect((own.rows[1]![8] as Date).toISOString().slice(10)).toBe('T23:59:59.000Z');
    expect(own.rows[3]).toEqual([...third, null, ...last]);
    const other = await readWithLibrary(bytes);
    expect(other.rows[1]!.toSpliced(6, 3)).toEqual([...first.slice(0, 6), ...texts]);
    expect(other.rows[3]!.slice(0, 14)).toEqual([...third, null, ...last]);
  });

  test.each([
    ['0001-01-01', '0001-01-01'],
    ['0099-12-31', '0099-12-31'],
    ['0100-01-01', '0100-01-01'],
    ['1899-12-31', '1899-12-31'],
    ['1900-02-28', '1900-02-28'],
    ['0044-03-15 BC', '0044-03-15 BC'],
    ['1901-01-01 BC', '1901-01-01 BC'],
  ])('the day %s before the calendar of Excel is text', async (day, date) => {
    const { bytes } = await load(`/api/early-days?text=${encodeURIComponent(day)}`);
    const [plain, suffix = ''] = day.split(/(?= BC)/);
    const row = [date, `${plain} 00:00:00${suffix}`, `${plain} 00:00:00+00${suffix}`];
    expect((await readWithOwnReader(bytes)).rows[1]).toEqual(row);
    expect((await readWithLibrary(bytes)).rows[1]).toEqual(row);
  });

  test('text that looks like an escape remains itself before a character that is escaped', async () => {
    const { bytes } = await load('/api/escapes');
    const texts = [
      '_x0041\u0001',
      '_x0041\r\n',
      '_x0041\uFFFE',
      '_x0041_x0001_',
      '__x0041\t',
      '_x0041',
      '_x0041\u0001_x0041_',
    ];
    const rows = [['escapes'], ...texts.map((text) => [text])];
    expect((await readWithOwnReader(bytes)).rows).toEqual(rows);
    expect((await readWithLibrary(bytes)).rows).toEqual(rows);
  });

  test('NULL is no cell, and an empty text is one', async () => {
    const sheet = part((await load('/api/items')).bytes, 'xl/worksheets/sheet1.xml');
    expect(/<row r="3">.*?<\/row>/.exec(sheet)![0]).toBe(
      '<row r="3"><c r="A3"><v>2</v></c><c r="N3" t="inlineStr"><is><t xml:space="preserve"></t></is></c></row>',
    );
  });

  test('no text is a formula, nor becomes one when it is edited', async () => {
    const { bytes } = await load('/api/items');
    const sheet = part(bytes, 'xl/worksheets/sheet1.xml');
    expect(sheet).not.toContain('<f>');
    expect(sheet).toContain(
      '<c r="N2" s="5" t="inlineStr"><is><t xml:space="preserve">=HYPERLINK("http://x")</t></is></c>',
    );
    expect(part(bytes, 'xl/styles.xml').match(/<xf /g)).toHaveLength(7);
    expect(part(bytes, 'xl/styles.xml')).toMatch(/<xf [^>]* quotePrefix="1"\/><\/cellXfs>/);
  });

  test('the headings are bold and stay; columns are as wide as their values', async () => {
    const { bytes } = await load('/api/many?rows=3');
    expect(part(bytes, 'xl/worksheets/sheet1.xml')).toContain(
      '<sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews>' +
        '<cols><col min="1" max="1" width="10" customWidth="1"/><col min="2" max="2" width="10" customWidth="1"/></cols>' +
        '<sheetData><row r="1"><c r="A1" s="1" t="inlineStr"><is><t xml:space="preserve">i</t></is></c>',
    );
    expect(part((await load('/api/long-texts?length=20&rows=1')).bytes, 'xl/worksheets/sheet1.xml')).toContain(
      'width="42"',
    );
    expect(part((await load('/api/long-texts?length=900&rows=1')).bytes, 'xl/worksheets/sheet1.xml')).toContain(
      'width="62"',
    );
  });

  test('no rows: the headings', async () => {
    const { bytes } = await load('/api/nobody');
    expect((await readWithLibrary(bytes)).rows).toEqual([['nobody']]);
  });

  test('many rows are streamed, and arrive whole', async () => {
    const { response, bytes } = await load('/api/many?rows=50000');
    expect(response.headers.get('content-length')).toBeNull();
    const { rows } = await readWithOwnReader(bytes);
    expect(rows.slice(1)).toEqual(Array.from({ length: 50_000 }, (_, index) => [index + 1, `row ${index + 1}`]));
  });
});

describe('names', () => {
  test('of the file and the sheet are safe', async () => {
    const { response, bytes } = await load('/api/nobody');
    // Header values are Latin-1.
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="_.._ä_b.xlsx"');
    expect((await readWithLibrary(bytes)).name).toBe("_All_ 'people' of the whole wid");
  });

  test.each([
    ['June', 'filename="June.xlsx"', 'June'],
    ['June.xlsx', 'filename="June.xlsx"', 'June.xlsx'],
    ['a"b\r\nSet-Cookie: x', 'filename="a_b_Set-Cookie_ x.xlsx"', 'a"b_Set-Cookie_ x'],
    ['..', 'filename="report.xlsx"', '..'],
    ['\u202Egpj.exe', 'filename="_gpj.exe.xlsx"', '\u202Egpj.exe'],
    ['History', 'filename="History.xlsx"', 'History_'],
    ["''", `filename="''.xlsx"`, 'Sheet1'],
    ['<&>', 'filename="_&_.xlsx"', '<&>'],
  ])('from the value %j of a parameter of a SQL file', async (title, file, sheet) => {
    const { response, bytes } = await load(`/api/report?count=2&title=${encodeURIComponent(title)}`, {});
    expect(response.headers.get('content-disposition')).toBe(`attachment; ${file}`);
    expect(await readWithLibrary(bytes)).toEqual({
      name: sheet,
      rows: [
        ['n', 'halfMore'],
        [1, 1.5],
        [2, 3],
      ],
    });
  });

  test('a long name is cut', async () => {
    const { response, bytes } = await load(`/api/report?count=1&title=${'😀'.repeat(300)}`, {});
    const encoded = /filename\*=UTF-8''(.*)$/.exec(response.headers.get('content-disposition')!)![1]!;
    expect(decodeURIComponent(encoded)).toBe(`${'😀'.repeat(150)}.xlsx`);
    expect((await readWithLibrary(bytes)).name).toBe(`${'😀'.repeat(15)}\uFFFD`);
  });

  test('the Content-Disposition of the comment replaces it', async () => {
    const { response } = await load('/api/own-disposition');
    expect(response.headers.get('content-disposition')).toBe('inline');
  });
});

describe('which requests get it', () => {
  test.each([
    ['/api/many?rows=1', xlsx, xlsx],
    ['/api/many?rows=1', `${xlsx};q=0.5, text/csv;q=0.1`, xlsx],
    ['/api/many?rows=1', `${xlsx};q=0.5, application/json`, 'application/json'],
    ['/api/many?rows=1', 'application/*', 'application/json'],
    ['/api/many?rows=1', '*/*', 'application/json'],
    ['/api/report?count=1&title=a', '*/*', xlsx],
    ['/api/report?count=1&title=a', 'application/*', xlsx],
    ['/api/report?count=1&title=a', 'application/json', 'application/json'],
    ['/api/report?count=1&title=a', 'text/html', 'text/html; charset=utf-8'],
    ['/api/film', xlsx, xlsx],
    ['/api/records', xlsx, 'application/json'],
  ])('%s with Accept: %s gives %s', async (path, accept, type) => {
    const { response } = await load(path, { accept });
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('content-disposition') !== null).toBe(type === xlsx);
  });

  test('tables', async () => {
    const { response, bytes } = await load('/api/film?filmId=2');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="film.xlsx"');
    expect((await readWithLibrary(bytes)).rows).toEqual([
      ['filmId', 'title'],
      [2, '@Alien'],
    ]);
  });

  test('HEAD has the headers', async () => {
    const whole = await load('/api/many?rows=3');
    const response = await fetch(`${gateway.url}/api/many?rows=3`, { method: 'HEAD', headers: { accept: xlsx } });
    for (const name of ['content-type', 'content-disposition', 'content-length', 'vary']) {
      expect([name, response.headers.get(name)]).toEqual([name, whole.response.headers.get(name)]);
    }
    expect(response.headers.get('content-length')).toBe(String(whole.bytes.length));
  });

  test('a cache keeps the formats apart, and equal rows are equal bytes with one entity tag', async () => {
    const first = await load('/api/cached-rows');
    expect((await readWithLibrary(first.bytes)).rows).toEqual([['i'], [1], [2]]);
    const etag = first.response.headers.get('etag')!;
    const again = await load('/api/cached-rows');
    expect({ etag: again.response.headers.get('etag'), bytes: again.bytes }).toEqual({ etag, bytes: first.bytes });
    expect((await load('/api/cached-rows', { accept: xlsx, 'if-none-match': etag })).response.status).toBe(304);
    const json = await load('/api/cached-rows', {});
    expect(Buffer.from(json.bytes).toString()).toBe('[{"i":1},{"i":2}]');
    expect(json.response.headers.get('etag')).not.toBe(etag);
  });

  test('a batch contains the rows as JSON', async () => {
    const body = [{ method: 'GET', path: '/api/report?count=1&title=a' }];
    const response = await gateway.send('POST /api/batch', { body, headers: { accept: xlsx } });
    expect((JSON.parse(response.body) as readonly { readonly body: unknown }[])[0]!.body).toEqual([
      { n: 1, halfMore: 1.5 },
    ]);
  });
});

describe('a row of many long texts', () => {
  const texts = Array.from({ length: 200 }, () => randomBytes(24_576).toString('base64').slice(0, 32_767));
  const columns = texts.map((_, index) => ({
    name: `c${index}`,
    key: `c${index}`,
    type: { builtin: 'text', json: 'string' },
  })) as unknown as readonly ResultColumn[];

  test('is compressed piece by piece, with the widths of all its columns', async () => {
    const pieces: Buffer[] = [];
    const out = { append: (bytes: Uint8Array): void => void pieces.push(Buffer.from(bytes)) };
    const document = excelFormat().compile(columns)('Wide');
    document.row(
      out,
      texts.map((text) => Buffer.from(text)),
    );
    document.end(out);
    const bytes = Buffer.concat(pieces);
    expect(bytes.length).toBeGreaterThan(4_000_000);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(256 * 1024);
    expect((await readWithLibrary(bytes)).rows).toEqual([columns.map(({ key }) => key), texts]);
    expect(part(bytes, 'xl/worksheets/sheet1.xml').match(/width="62"/g)).toHaveLength(200);
  });

  test('leaves no memory that is far above a piece', () => {
    const xml = new XmlBuffer(10_000);
    xml.text('x'.repeat(1_000_000));
    expect(xml.take().toString()).toBe('x'.repeat(1_000_000));
    xml.text('a');
    const taken = xml.take();
    expect(taken.toString()).toBe('a');
    expect(taken.buffer.byteLength).toBeLessThan(100_000);
  });
});

describe('what Excel cannot contain', () => {
  test('a text as long as a cell', async () => {
    const { bytes } = await load('/api/long-texts?length=32767&rows=1');
    expect((await readWithLibrary(bytes)).rows).toEqual([['textValue'], ['ä'.repeat(32_767)]]);
  });

  test('a longer one is an error that names row and column', async () => {
    const response = await gateway.send('GET /api/long-texts?length=32768&rows=1', { headers: { accept: xlsx } });
    expect({ status: response.status, type: response.type, body: JSON.parse(response.body) as unknown }).toEqual({
      status: 406,
      type: problem,
      body: {
        type: 'urn:pgway:problem:unrepresentable-rows',
        title: 'The requested format cannot contain these rows',
        status: 406,
        detail:
          'The value of "textValue" in row 1 is longer than 32,767 characters, the limit of a cell of Excel; ask for text/csv, or for application/x-ndjson, by the header Accept.',
        column: 'textValue',
        row: 1,
      },
    });
  });

  test('an error before the first bytes is a response; after them, the response is incomplete', async () => {
    const early = await gateway.send('GET /api/late?rows=200', { headers: { accept: xlsx } });
    expect({ status: early.status, type: early.type }).toEqual({ status: 406, type: problem });
    await expect(load('/api/late?rows=100000')).rejects.toThrow('terminated');
    // The connections serve the next requests.
    expect((await load('/api/many?rows=1')).response.status).toBe(200);
  });
});

describe('words that cannot have an effect are errors', () => {
  const noRows = 'the result is not a list of rows with known columns; return a table, or setof a type';
  const missing =
    'the gateway writes no workbooks; pass rowFormats: [excelFormat()] of the package @pgway/excel, or remove the line';
  test.each([
    ['table_format = excel', 'int', [excelFormat()], `table_format has no effect: ${noRows}`],
    ['excel_sheet = x', 'int', [excelFormat()], `excel_sheet has no effect: ${noRows}`],
    ['excel_file_name = x', 'int', [excelFormat()], `excel_file_name has no effect: ${noRows}`],
    ['table_format = excel', 'setof int', null, `table_format has no effect: ${missing}`],
    ['excel_sheet = x', 'setof int', null, `excel_sheet has no effect: ${missing}`],
    ['table_format = xls', 'setof int', [excelFormat()], 'table_format takes html or excel, not "xls"'],
    ['excel_sheet =', 'setof int', [excelFormat()], 'excel_sheet needs the name of a sheet'],
  ])('%s, returns %s', async (line, returns, rowFormats, message) => {
    const started = await startGateway(
      `create function f() returns ${returns} language sql stable as 'select 1';
       comment on function f is e'HTTP GET\\n${line}'`,
      { rowFormats },
    );
    onTestFinished(() => started.close());
    expect(started.gateway.diagnostics.map((diagnostic) => diagnostic.message)).toContain(message);
  });
});
