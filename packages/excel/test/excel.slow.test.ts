import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { excelHandler } from '@pgway/excel';
import { newFolder } from '../../core/test/uploads/file-store.ts';
import { workbookParts } from './workbooks.ts';

const mebibyte = 1024 * 1024;
const rows = 50_000;

const gateway = useGateway(
  `
  create table imported (number int, title text, published date, pages int, language text);
  create function add_book(number int, fields text[]) returns int language sql as
    'insert into imported values ($1, $2[2], $2[4]::date, $2[5]::int, $2[10]) returning $1';
  create function import(_meta json) returns json language sql as 'select _meta';
  comment on function import is 'HTTP
  upload for excel
  param _meta is upload metadata
  row_command = select add_book($1, $2)';
`,
  { uploadOptions: { defaultUploadHandler: 'excel', uploadHandlers: { excel: excelHandler } } },
);

/** Ten cells: a number, two texts of their own, a date, a number, a boolean, a fraction, a formula, and texts that repeat. */
function rowOf(row: number): string {
  const at = 2 * (row - 1);
  return `<row r="${row}"><c r="A${row}"><v>${row}</v></c><c r="B${row}" t="s"><v>${at}</v></c><c r="C${row}" t="s"><v>${at + 1}</v></c><c r="D${row}" s="1"><v>${20_000 + (row % 20_000)}</v></c><c r="E${row}"><v>${row % 900}</v></c><c r="F${row}" t="b"><v>${row % 2}</v></c><c r="G${row}"><v>${row / 8}</v></c><c r="H${row}"><f>E${row}*2</f><v>${(row % 900) * 2}</v></c><c r="I${row}" t="inlineStr"><is><t>fiction</t></is></c><c r="J${row}" t="s"><v>0</v></c></row>`;
}

function* pieces(head: string, item: (index: number) => string, tail: string): Iterable<Buffer> {
  yield Buffer.from(head);
  for (let index = 1; index <= rows; index++) yield Buffer.from(item(index));
  yield Buffer.from(tail);
}

/** Writes the workbook as Excel does, with a table of 100,000 shared texts. */
async function writeWorkbook(path: string): Promise<void> {
  const parts = workbookParts({ sheets: { Books: '' } });
  const archive = new ZipFile();
  const replaced: Readonly<Record<string, (index: number) => string>> = {
    'xl/sharedStrings.xml': (index) => `<si><t>The title of book ${index}</t></si><si><t>Author ${index * 31}</t></si>`,
    'xl/worksheets/sheet1.xml': rowOf,
  };
  for (const [name, content] of Object.entries(parts)) {
    const item = replaced[name];
    if (item === undefined) {
      archive.addBuffer(Buffer.from(content), name);
      continue;
    }
    const [, head, tail] = /^(.*?)((?:<\/sheetData>)?<\/\w+>)$/.exec(String(content)) as unknown as [
      string,
      string,
      string,
    ];
    archive.addReadStream(Readable.from(pieces(head, item, tail)), name);
  }
  archive.end();
  const file = await open(path, 'w');
  await pipeline(archive.outputStream, file.createWriteStream());
}

test('50,000 rows of ten columns need less than 256 MiB of memory', async () => {
  const path = join(await newFolder(), 'books.xlsx');
  await writeWorkbook(path);
  const before = process.memoryUsage.rss();
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  const form = new FormData();
  form.append('file', await openAsBlob(path), 'books.xlsx');
  const response = await fetch(`${gateway.url}/api/import`, { method: 'POST', body: form });
  clearInterval(sampling);

  expect(await response.json()).toMatchObject([{ sheet: 'Books', success: true, status: 'Ok', lastResult: rows }]);
  const summary = `count(*)::int, sum(number)::text, max(title) as title, min(published)::text as published,
    sum(pages)::int as pages, min(language) as language, max(language) as other_language`;
  expect(await gateway.database.query(`select ${summary} from imported`)).toEqual([
    {
      count: rows,
      sum: '1250025000',
      title: 'The title of book 9999',
      published: '1954-10-03',
      pages: Array.from({ length: rows }, (_, index) => (index + 1) % 900).reduce((sum, pages) => sum + pages, 0),
      language: 'The title of book 1',
      other_language: 'The title of book 1',
    },
  ]);
  expect(most - before).toBeLessThan(256 * mebibyte);
});
