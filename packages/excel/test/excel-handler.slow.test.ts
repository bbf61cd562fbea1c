import { Workbook } from '@cj-tech-master/excelts';
import { type Answer, startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { defaultUploadHandlers } from '@pgway/core';
import { excelHandler } from '@pgway/excel';
import { json, plain, problem, problemOf } from '../../core/test/behaviour/support.ts';
import { beginUpload, fileHead, leftovers } from '../../core/test/uploads/forms.ts';
import { filesIn, newFolder, openFilesIn } from '../../core/test/uploads/file-store.ts';
import { sharedStringsXml, sheetXml, workbook, workbookParts, zip } from './workbooks.ts';

const gateway = useGateway(
  `
  create table imported (position serial, number int, fields text[], previous text, metadata json);
  create function add_row(number int, fields text[], previous text, metadata json) returns text language sql as
    'insert into imported (number, fields, previous, metadata) values ($1, $2, $3, $4) returning fields[1]';
  create table imported_json (number int, cells json);

  create function import(_meta json) returns json language sql as 'select _meta';
  comment on function import is 'HTTP
  upload for excel
  param _meta is upload metadata
  row_command = select add_row($1, $2, $3, $4)';

  create function import_sheet(_sheet text, _meta json) returns json language sql as 'select _meta';
  comment on function import_sheet is 'HTTP
  upload for excel
  param _meta is upload metadata
  excel_sheet_name = {_sheet}
  excel_row_command = select add_row($1, $2, null, $4)';

  create function import_all(_meta json) returns json language sql as 'select _meta';
  comment on function import_all is 'HTTP
  upload for excel
  param _meta is upload metadata
  all_sheets = true
  time_format = HH.mm.ss.fff
  date_format = dd.MM.yyyy
  datetime_format = yyyyMMddTHHmm
  row_command = select add_row($1, $2, $3, $4)';

  create function import_json(_meta json) returns json language sql as 'select _meta';
  comment on function import_json is 'HTTP
  upload for excel
  param _meta is upload metadata
  row_is_json = true
  row_command = insert into imported_json values ($1, $2)';

  create function import_numbers(_meta json) returns json language sql as 'select _meta';
  comment on function import_numbers is 'HTTP
  upload for excel
  param _meta is upload metadata
  row_command = select ($2)[1]::int';
`,
  {
    uploadOptions: {
      defaultUploadHandler: 'excel',
      uploadHandlers: {
        excel: () => excelHandler({ maxSheets: 20, maxRows: 1000, maxCells: 20_000, maxInflatedSize: 4 * 1024 * 1024 }),
      },
    },
  },
);

type Bytes = Uint8Array<ArrayBuffer>;

const mediaType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

async function post(path: string, ...files: readonly Bytes[]): Promise<Answer> {
  const form = new FormData();
  for (const file of files) form.append('file', new File([file], 'books.xlsx', { type: mediaType }));
  const { status, headers, ...response } = await fetch(gateway.url + path, { method: 'POST', body: form }).then(
    async (answer) => ({ status: answer.status, headers: answer.headers, body: await answer.text() }),
  );
  return { status, headers, type: headers.get('content-type'), body: response.body };
}

/** Returns the rows that were imported, and deletes them. */
async function takeRows(columns = 'number, fields'): Promise<readonly unknown[]> {
  const rows = await gateway.database.query(`select ${columns} from imported order by position`);
  await gateway.database.query('truncate imported');
  return rows;
}

/** Imports the rows of a sheet, and returns the fields that the row command got. */
async function fieldsOf(rows: string, strings = ''): Promise<readonly unknown[]> {
  const answer = await post('/api/import', await workbook(rows, strings));
  expect(answer).toMatchObject({ status: 200 });
  return (await takeRows()).map((row) => (row as { fields: unknown }).fields);
}

/** The metadata of the file `books.xlsx` with these members after its size. */
function metadata(file: Bytes, members: string): string {
  return `{"type":"excel","fileName":"books.xlsx","contentType":"${mediaType}","size":${file.length},${members}}`;
}

describe('rows', () => {
  test('the row command gets number, values, previous result and metadata', async () => {
    const file = await workbook(
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="3"><c r="A3" t="s"><v>1</v></c></row>',
      '<si><t>title</t></si><si><t>Dune</t></si>',
    );
    const answer = await post('/api/import', file);
    expect(plain(answer)).toEqual(
      json(`[${metadata(file, '"sheet":"Books","success":true,"status":"Ok","lastResult":"Dune"')}]`),
    );
    const meta = { type: 'excel', fileName: 'books.xlsx', contentType: mediaType, sheet: 'Books' };
    expect(await takeRows('number, fields, previous, metadata')).toEqual([
      { number: 1, fields: ['title', 'Dune'], previous: null, metadata: meta },
      { number: 3, fields: ['Dune'], previous: 'title', metadata: meta },
    ]);
  });

  test.each([
    ['without styles', (parts: Record<string, string | Uint8Array>) => parts],
    [
      'without a relationship to styles',
      (parts: Record<string, string | Uint8Array>) => ({
        ...parts,
        'xl/_rels/workbook.xml.rels': String(parts['xl/_rels/workbook.xml.rels']).replace(
          /<Relationship Id="s"[^>]*>/,
          '',
        ),
      }),
    ],
  ])('a workbook %s', async (_, change) => {
    const { 'xl/styles.xml': _styles, ...parts } = workbookParts({
      sheets: {
        Books:
          '<row r="1" s="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>23955</v></c><c r="C1"><v>1</v></c></row>',
      },
      strings: '<si><t>Dune</t></si>',
    });
    expect((await post('/api/import', await zip(change(parts)))).status).toBe(200);
    expect(await takeRows()).toEqual([{ number: 1, fields: ['Dune', '23955', '1'] }]);
  });

  test('values of a workbook that a library wrote', async () => {
    const book = new Workbook();
    const sheet = book.addWorksheet('Books');
    sheet.addRow(['Dune', 1965, 9.99, true, new Date('1965-08-01T00:00:00Z'), new Date('2024-02-29T13:45:30Z')]);
    sheet.addRow([]);
    sheet.addRow([null, -0.5, 1e21, false, '', { formula: 'A1&"x"', result: 'Dunex' }]);
    sheet.addRow([{ richText: [{ text: 'Du' }, { font: { bold: true }, text: 'ne' }] }, { error: '#N/A' }, 0.1 + 0.2]);
    const answer = await post('/api/import', Uint8Array.from(await book.xlsx.writeBuffer()));
    expect(answer.status).toBe(200);
    expect(await takeRows()).toEqual([
      { number: 1, fields: ['Dune', '1965', '9.99', 'true', '1965-08-01', '2024-02-29 13:45:30'] },
      { number: 3, fields: [null, '-0.5', '1e+21', 'false', null, 'Dunex'] },
      { number: 4, fields: ['Dune', null, '0.30000000000000004'] },
    ]);
  });

  test('gaps are NULL, empty cells at the end are cut, blank rows count', async () => {
    const file = await workbook(
      '<row r="2"><c r="C2"><v>1</v></c><c r="D2" s="1"/><c r="E2" t="str"><v></v></c></row><row r="3"/><row r="7"><c r="A7" s="1"/></row><row r="9"><c r="A9"><v>2</v></c></row>',
    );
    expect((await post('/api/import', file)).status).toBe(200);
    expect(await takeRows()).toEqual([
      { number: 2, fields: [null, null, '1'] },
      { number: 9, fields: ['2'] },
    ]);
  });

  test('row_is_json gives an object by cell address, with types', async () => {
    const file = await workbook(
      '<row r="1"><c r="A1"><v>1.50</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#DIV/0!</v></c><c r="AA1" t="inlineStr"><is><t>"ü"</t></is></c></row><row r="2"><c r="B2" s="1"><v>36526</v></c></row>',
    );
    const answer = await post('/api/import-json', file);
    expect(plain(answer)).toEqual(
      json(`[${metadata(file, '"sheet":"Books","success":true,"status":"Ok","lastResult":null')}]`),
    );
    expect(await gateway.database.query('delete from imported_json returning *')).toEqual([
      { number: 1, cells: { A1: 1.5, C1: true, D1: null, AA1: '"ü"' } },
      { number: 2, cells: { B2: '2000-01-01' } },
    ]);
  });

  test('a workbook without rows has no last result', async () => {
    const file = await workbook('');
    expect(plain(await post('/api/import', file))).toEqual(
      json(`[${metadata(file, '"sheet":"Books","success":true,"status":"Ok","lastResult":null')}]`),
    );
  });

  test('a row that PostgreSQL refuses fails the upload, and no row stays', async () => {
    await gateway.database.query('alter table imported add constraint small check (number < 3)');
    onTestFinished(async () => {
      await gateway.database.query('alter table imported drop constraint small');
    });
    const rows = [1, 2, 3].map((row) => `<row r="${row}"><c r="A${row}"><v>1</v></c></row>`);
    const answer = await post('/api/import', await workbook(rows.join('')));
    expect(problem(answer)).toMatchObject(
      problemOf(400, { file: 'books.xlsx', sheet: 'Books', row: 3, code: '23514' }),
    );
    expect(await takeRows()).toEqual([]);
  });
});

describe('the text of cells', () => {
  const cells = (...items: readonly string[]): string => `<row>${items.join('')}</row>`;

  test('formulas have their results', async () => {
    expect(
      await fieldsOf(
        cells(
          '<c t="b"><f>A1&gt;B1</f><v>1</v></c>',
          '<c><f t="shared" ref="A1:A9" si="0">1+1</f><v>2</v></c>',
          '<c t="str"><f>"a"</f><v>a &amp;lt; b</v></c>',
          '<c s="1"><f>TODAY()</f><v>45000</v></c>',
          '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>',
          '<c><v>3</v></c>',
        ),
      ),
    ).toEqual([['true', '2', 'a &lt; b', '2023-03-15', null, '3']]);
  });

  test('formatted text is joined, phonetic text is left out, escapes of Excel are decoded', async () => {
    const strings = [
      '<si><t>漢字</t><rPh sb="0" eb="2"><t>カンジ</t></rPh><phoneticPr fontId="1"/></si>',
      '<si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> text</t></r></si>',
      '<si><t>a_x000D_b_x005F_x0041__x0001_&#10;\uE000</t></si>',
      '<si><t>&lt;&amp;lt;&#x1F600;]]&gt;</t></si>',
      '<si/>',
    ];
    const shared = strings.map((_, index) => `<c t="s"><v>${index}</v></c>`);
    expect(
      await fieldsOf(
        cells(...shared, '<c t="inlineStr"><is><r><t>in</t></r><r><t>&amp;line</t></r></is></c>'),
        strings.join(''),
      ),
    ).toEqual([['漢字', 'bold text', 'a\rb_x0041_\u0001\n\uE000', '<&lt;😀]]>', null, 'in&line']]);
  });

  test.each([
    ['1', '1'],
    ['1.0', '1'],
    ['12345678901234', '12345678901234'],
    ['0.1', '0.1'],
    ['1E-7', '1e-7'],
    ['-0', '0'],
    [' 5 ', '5'],
  ])('the number %s is %s', async (value, text) => {
    expect(await fieldsOf(cells(`<c><v>${value}</v></c>`))).toEqual([[text]]);
  });

  test.each([
    ['1', '1900-01-01'],
    ['59', '1900-02-28'],
    ['61', '1900-03-01'],
    ['45000', '2023-03-15'],
    ['45000.5', '2023-03-15 12:00:00'],
    ['45000.999994', '2023-03-15 23:59:59'],
    ['0', '00:00:00'],
    ['0.75', '18:00:00'],
    ['2958465', '9999-12-31'],
    ['1e300', null],
  ])('the date %s is %s', async (serial, text) => {
    const fields = text === null ? [] : [text];
    expect(await fieldsOf(cells(`<c s="3"><v>${serial}</v></c>`))).toEqual(fields.length === 0 ? [[null]] : [fields]);
  });

  test('formats in other languages, and ISO dates as text', async () => {
    expect(await fieldsOf(cells('<c s="4"><v>45000</v></c>', '<c t="d"><v>2024-01-02T03:04:05</v></c>'))).toEqual([
      ['2023-03-15', '2024-01-02T03:04:05'],
    ]);
  });

  test('files may leave out addresses, prefix names, and have characters of several bytes anywhere', async () => {
    const text = 'ü€😀'.repeat(9000);
    const parts = workbookParts({ sheets: { Books: '' }, strings: `<si><t>${text}</t></si>` });
    const prefixed = await zip({
      ...parts,
      'xl/worksheets/sheet1.xml': `\uFEFF<?xml version="1.0"?><x:worksheet xmlns:x="urn:x"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c><x:v>2</x:v></x:c></x:row><x:row><x:c t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`,
    });
    expect((await post('/api/import', prefixed)).status).toBe(200);
    expect(await takeRows()).toEqual([
      { number: 1, fields: [text, '2'] },
      { number: 2, fields: ['a'] },
    ]);
  });
});

describe('sheets', () => {
  const rowOf = (value: string, style = 0): string => `<row><c s="${style}"><v>${value}</v></c></row>`;
  const sheets = { Books: rowOf('45000', 1), 'A &amp; B': rowOf('0.5', 2), Empty: '', Last: rowOf('1.25', 3) };

  test('the first one is read, unless the comment names one', async () => {
    const file = await zip(workbookParts({ sheets }));
    expect((await post('/api/import', file)).body).toContain('"sheet":"Books","success":true');
    expect(plain(await post('/api/import-sheet?sheet=A%20%26%20B', file))).toEqual(
      json(`[${metadata(file, '"sheet":"A & B","success":true,"status":"Ok","lastResult":"12:00:00"')}]`),
    );
    expect(await takeRows()).toEqual([
      { number: 1, fields: ['2023-03-15'] },
      { number: 1, fields: ['12:00:00'] },
    ]);
  });

  test('a workbook without the sheet is refused', async () => {
    const file = await zip(workbookParts({ sheets }));
    expect(plain(await post('/api/import-sheet?sheet=Other', file))).toEqual(
      json(`[${metadata(file, '"sheet":"Other","success":false,"status":"InvalidFormat"')}]`),
    );
    expect(await takeRows()).toEqual([]);
  });

  test('all_sheets reads every sheet, with an object of metadata for each', async () => {
    const file = await zip(workbookParts({ sheets, date1904: true }));
    const stored = (sheet: string, lastResult: string): string =>
      metadata(file, `"sheet":"${sheet}","success":true,"status":"Ok","lastResult":${lastResult}`);
    expect(plain(await post('/api/import-all', file))).toEqual(
      json(
        `[${stored('Books', '"16.03.2027"')},${stored('A & B', '"12.00.00.000"')},${stored('Empty', 'null')},${stored('Last', '"19040102T0600"')}]`,
      ),
    );
    expect(await takeRows('number, fields, previous')).toEqual([
      { number: 1, fields: ['16.03.2027'], previous: null },
      { number: 1, fields: ['12.00.00.000'], previous: null },
      { number: 1, fields: ['19040102T0600'], previous: null },
    ]);
  });
});

const books = workbookParts({ sheets: { Books: '<row><c><v>1</v></c></row>' } });
const without = (part: string): Promise<Bytes> =>
  zip(Object.fromEntries(Object.entries(books).filter(([name]) => name !== part)));
const entities = `<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>`;

describe('a file that is no workbook is refused, and no row command runs', () => {
  test.each<readonly [string, () => Promise<Bytes> | Bytes]>([
    ['an empty file', () => new Uint8Array(0)],
    ['text', () => Uint8Array.from(Buffer.from('title,year\nDune,1965\n'))],
    ['an encrypted workbook or one of Excel 97', () => Uint8Array.from(Buffer.from('d0cf11e0a1b11ae1', 'hex'))],
    ['another archive', () => zip({ 'readme.txt': 'hello' })],
    ['a cut archive', async () => (await zip(books)).slice(0, -40)],
    ['no relationships', () => without('_rels/.rels')],
    ['no workbook', () => without('xl/workbook.xml')],
    ['no relationships of the workbook', () => without('xl/_rels/workbook.xml.rels')],
    ['no shared texts', () => without('xl/sharedStrings.xml')],
    ['no sheet', () => without('xl/worksheets/sheet1.xml')],
    ['no list of sheets', () => zip({ ...books, 'xl/workbook.xml': '<workbook/>' })],
    ['a workbook that is cut', () => zip({ ...books, 'xl/workbook.xml': '<workbook><sheets>' })],
    ['another root element', () => zip({ ...books, 'xl/workbook.xml': '<html/>' })],
    ['a binary workbook', () => zip({ ...books, 'xl/workbook.xml': Uint8Array.of(0x83, 1, 0, 0xff) })],
    ['entities in the workbook', () => zip({ ...books, 'xl/workbook.xml': `${entities}<workbook>&c;</workbook>` })],
    ['deep elements', () => zip({ ...books, 'xl/styles.xml': `<styleSheet>${'<a>'.repeat(100_000)}` })],
    [
      'a path outside',
      () =>
        zip({
          ...books,
          'xl/_rels/workbook.xml.rels': String(books['xl/_rels/workbook.xml.rels']).replaceAll(
            'worksheets/sheet1.xml',
            '../../../../etc/passwd',
          ),
        }),
    ],
    [
      'an external sheet',
      () =>
        zip({
          ...books,
          'xl/_rels/workbook.xml.rels': String(books['xl/_rels/workbook.xml.rels']).replaceAll(
            'Target="worksheets',
            'TargetMode="External" Target="worksheets',
          ),
        }),
    ],
    ['shared texts that are cut', () => zip({ ...books, 'xl/sharedStrings.xml': '<sst><si><t>a' })],
    [
      'white space that inflates',
      () => zip({ ...books, 'xl/workbook.xml': `${' '.repeat(64 * 1024 * 1024)}<workbook/>` }),
    ],
    ['a changed byte', async () => corrupt(await zip(books))],
  ])('%s', async (_, file) => {
    const bytes = await file();
    expect(plain(await post('/api/import', bytes))).toEqual(
      json(`[${metadata(bytes, '"sheet":null,"success":false,"status":"InvalidFormat"')}]`),
    );
    expect(await takeRows()).toEqual([]);
  });
});

describe('a workbook that has more than is read is refused with the reason', () => {
  test.each<readonly [string, string, () => Promise<Bytes>]>([
    [
      'relationships',
      'more than 10000 elements Relationship',
      () => zip({ ...books, '_rels/.rels': repeated('Relationships', '<Relationship/>', 10_001) }),
    ],
    [
      'styles',
      'more than 65536 elements xf',
      () => zip({ ...books, 'xl/styles.xml': `<styleSheet>${repeated('cellXfs', '<xf/>', 65_537)}</styleSheet>` }),
    ],
    [
      'a number format whose quadratic reading would take minutes',
      'a number format of more than 255 characters',
      () =>
        zip({
          ...books,
          'xl/styles.xml': `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="${'['.repeat(256)}"/></numFmts></styleSheet>`,
        }),
    ],
    [
      'a name of a sheet, which each row command would get',
      'a sheet whose name has more than 255 characters',
      () =>
        zip({
          ...books,
          'xl/workbook.xml': `<workbook><sheets><sheet name="${'a'.repeat(256)}"/></sheets></workbook>`,
        }),
    ],
  ])('%s', async (_, reason, file) => {
    const { status, body } = await post('/api/import', await file());
    expect([status, JSON.parse(body)]).toMatchObject([413, { detail: `The workbook has ${reason}.` }]);
    expect(await takeRows()).toEqual([]);
  });
});

function repeated(parent: string, element: string, count: number): string {
  return `<${parent}>${element.repeat(count)}</${parent}>`;
}

/** Changes the checksum of all entries. */
function corrupt(archive: Bytes): Bytes {
  const bytes = Buffer.from(archive);
  for (let at = bytes.indexOf('PK\x01\x02'); at !== -1; at = bytes.indexOf('PK\x01\x02', at + 1)) bytes[at + 16]! ^= 1;
  return Uint8Array.from(bytes);
}

describe('a defect in a sheet fails the upload, and no row stays', () => {
  const first = '<row r="1"><c r="A1"><v>1</v></c></row>';
  test.each([
    ['XML that ends early', `${first}<row r="2">`, 'has XML that is not well-formed'],
    ['tags that do not match', `${first}<row r="2"><c r="A2"></row></c>`, 'has XML that is not well-formed'],
    [
      'a large row number',
      `${first}<row r="1000000000"><c><v>1</v></c></row>`,
      'has a row with the number "1000000000"',
    ],
    ['a row number twice', `${first}<row r="1"><c><v>1</v></c></row>`, 'has a row with the number "1"'],
    [
      'a cell outside of Excel',
      `${first}<row r="2"><c r="ZZZZ9999999"><v>1</v></c></row>`,
      'has a cell with the address "ZZZZ9999999"',
    ],
    [
      'a column outside of Excel',
      `${first}<row r="2"><c r="XFE2"><v>1</v></c></row>`,
      'has a cell with the address "XFE2"',
    ],
    ['a cell of another row', `${first}<row r="2"><c r="A1"><v>1</v></c></row>`, 'has a cell with the address "A1"'],
    ['cells in another order', `${first}<row r="2"><c r="B2"/><c r="A2"/></row>`, 'has a cell with the address "A2"'],
    ['an index in two parts', `${first}<row r="2"><c t="s"><v>0<![CDATA[7]]></v></c></row>`, 'has no shared text "07"'],
    [
      'an index around other elements',
      `${first}<row r="2"><c t="s"><v>0<!-- --><z>1</z>7</v></c></row>`,
      'has no shared text "07"',
    ],
    ['two values of a cell', `${first}<row r="2"><c><v>1</v><v>2</v></c></row>`, 'has a cell with two values'],
    ['a missing shared text', `${first}<row r="2"><c t="s"><v>7</v></c></row>`, 'has no shared text "7"'],
    [
      'a shared text of no number',
      `${first}<row r="2"><c t="s"><v>__proto__</v></c></row>`,
      'has no shared text "__proto__"',
    ],
    ['a number that is none', `${first}<row r="2"><c><v>1 + 1</v></c></row>`, 'has a number "1 + 1"'],
    ['a type that is none', `${first}<row r="2"><c t="x"><v>1</v></c></row>`, 'has a cell of the type "x"'],
    ['a style of no number', `${first}<row r="2"><c s="-1"><v>1</v></c></row>`, 'has a cell of the style "-1"'],
    ['an entity', `${first}<row r="2"><c t="str"><v>&c;</v></c></row>`, 'has XML that is not well-formed'],
    [
      'a long text',
      `${first}<row r="2"><c t="str"><v>${'x'.repeat(3_000_000)}</v></c></row>`,
      'has a text that is too long',
    ],
    [
      'a row of long texts',
      `${first}<row r="2">${`<c t="inlineStr"><is><t>${'x'.repeat(200_000)}</t></is></c>`.repeat(6)}</row>`,
      'has a row with more than 1048576 characters',
    ],
  ])('%s', async (_, rows, fault) => {
    const xml = rows.endsWith('<row r="2">') ? sheetXml(rows).slice(0, -40) : sheetXml(rows);
    const answer = await post('/api/import', await zip({ ...books, 'xl/worksheets/sheet1.xml': xml }));
    expect(problem(answer)).toMatchObject(
      problemOf(400, {
        type: 'urn:pgway:problem:malformed-file',
        detail: expect.stringContaining(`The sheet "Books" of the workbook ${fault}`) as string,
        file: 'books.xlsx',
        sheet: 'Books',
      }),
    );
    expect(await takeRows()).toEqual([]);
  });
});

test('a shared text counts in each cell of a row that has it', async () => {
  const cells = (count: number): string => `<row>${'<c t="s"><v>0</v></c>'.repeat(count)}</row>`;
  const strings = `<si><t>${'_'.repeat(65_536)}</t></si>`;
  const accepted = await post('/api/import', await workbook(cells(16).repeat(2), strings));
  expect(accepted.status).toBe(200);
  expect(await takeRows('length(fields[16])')).toEqual([{ length: 65_536 }, { length: 65_536 }]);
  const refused = await post('/api/import', await workbook(cells(17), strings));
  expect(problem(refused)).toMatchObject(
    problemOf(400, {
      type: 'urn:pgway:problem:malformed-file',
      detail: 'The sheet "Books" of the workbook has a row with more than 1048576 characters, after row 0.',
    }),
  );
  expect(await takeRows()).toEqual([]);
});

describe('a workbook past a limit is a 413, and leaves nothing', () => {
  const rows = (count: number): string => '<row><c><v>1</v></c></row>'.repeat(count);
  test.each<readonly [string, () => Promise<Bytes>, string]>([
    [
      'a sheet that inflates',
      () => workbook(`${rows(1)}${'<x/>'.repeat(1_500_000)}`),
      '4194304 uncompressed bytes (maxInflatedSize)',
    ],
    [
      'styles that inflate',
      () => zip({ ...books, 'xl/styles.xml': `<styleSheet>${'<a/>'.repeat(1_500_000)}</styleSheet>` }),
      '4194304 uncompressed bytes (maxInflatedSize)',
    ],
    [
      'sheets',
      () =>
        zip({
          ...books,
          'xl/workbook.xml': `<workbook><sheets>${'<sheet name="a"/>'.repeat(10_000)}</sheets></workbook>`,
        }),
      '20 sheets (maxSheets)',
    ],
    ['rows', () => workbook(rows(1001)), '1000 rows (maxRows)'],
    [
      'cells',
      () => workbook('<row><c r="XFD1"><v>1</v></c></row><row><c r="XFD2"><v>1</v></c></row>'),
      '20000 cells (maxCells)',
    ],
  ])('%s', async (_, file, limit) => {
    const answer = await post('/api/import', await file());
    expect(problem(answer)).toMatchObject(
      problemOf(413, {
        type: 'urn:pgway:problem:body-too-large',
        detail: expect.stringContaining(limit) as string,
      }),
    );
    expect(await takeRows()).toEqual([]);
  });
});

test('a workbook waits for a connection before it is read, so that few are in memory', async () => {
  const waiting = await startGateway(
    `create function keep(_meta json) returns json language sql as 'select _meta';
     comment on function keep is 'HTTP
     upload for large_object, _meta as metadata';
     create function import(_meta json) returns json language sql as 'select _meta';
     comment on function import is 'HTTP
     upload for excel, _meta as metadata
     row_command = select $1';`,
    {
      uploadOptions: {
        uploadHandlers: { ...defaultUploadHandlers(), excel: excelHandler },
        maxUploadConnections: 1,
        uploadQueueTimeout: 0.1,
      },
    },
  );
  onTestFinished(() => waiting.close());
  const first = beginUpload(waiting, '/api/keep');
  onTestFinished(() => void first.socket.destroy());
  first.write(`${fileHead('a.txt')}hello`);
  await expect.poll(async () => (await leftovers(waiting.database)).transactions).toBe(1);
  const body = new FormData();
  body.append('file', new File(['this is no workbook'], 'books.xlsx'));
  expect(problem(await waiting.send('POST /api/import', { body }))).toMatchObject(problemOf(503));
});

describe('temporary files', () => {
  test.each<readonly [string, () => Promise<Bytes>, string]>([
    ['a workbook', () => zip(books), '/api/import'],
    ['no workbook', () => zip({ a: 'a' }), '/api/import'],
    ['a defect', () => zip({ ...books, 'xl/worksheets/sheet1.xml': sheetXml('<row><c t="x"/></row>') }), '/api/import'],
    ['a row that fails', () => workbook('<row><c t="str"><v>x</v></c></row>'), '/api/import-numbers'],
    [
      'a limit',
      () => zip({ ...books, 'xl/sharedStrings.xml': sharedStringsXml('<si/>'.repeat(1_000_000)) }),
      '/api/import',
    ],
  ])('none is left after %s', async (_, file, path) => {
    const folder = await newFolder();
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = folder;
    try {
      await post(path, await file());
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    expect({ files: filesIn(folder), open: openFilesIn(folder) }).toEqual({ files: {}, open: [] });
    await takeRows();
  });
});
