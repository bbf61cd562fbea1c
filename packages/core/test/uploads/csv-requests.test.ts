import { randomBytes } from 'node:crypto';
import { createGateway } from '@pgway/core';
import { freshDatabase, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { form, type FormEntry } from './forms.ts';

const gateway = useGateway(`
  create table book (line int, title text, price numeric, previous text, metadata jsonb, uploaded_by text);
  create function process_csv_row(line int, fields text[], previous text, metadata jsonb) returns jsonb
    language plpgsql as $$
  begin
    if line = 1 then return '{"rows": 0}'; end if;
    insert into book values ($1, fields[1], fields[2]::numeric, previous, metadata, current_setting('request.user_id', true));
    return jsonb_build_object('rows', (previous::jsonb->>'rows')::int + 1);
  end $$;

  create function import(_meta json) returns json language sql as 'select _meta';
  comment on function import is '
    HTTP
    upload for csv _meta as metadata';

  create function import_fast(_separator text, _meta json) returns json language sql as 'select _meta';
  comment on function import_fast is '
    HTTP
    upload for csv _meta as metadata
    delimiters = {_separator}\\t
    csv_has_fields_enclosed_in_quotes = false
    set_white_space_to_null = false
    row_command = insert into book (line, title, price) values ($1, $2[1], $2[2]::numeric) returning $2';

  create procedure add_book(line int, fields text[], inout total numeric default 0) language plpgsql as $$
  begin
    insert into book (line, title) values (line, fields[1]);
    total := line / 2.0;
  end $$;
  create function import_by_call(_meta json) returns json language sql as 'select _meta';
  comment on function import_by_call is '
    HTTP
    upload for csv _meta as metadata
    row_command = call add_book($1, $2)';

  create function import_and_fail(_meta json) returns json language plpgsql as $$
  begin raise 'the import is refused' using errcode = 'P0001'; end $$;
  comment on function import_and_fail is '
    HTTP
    upload for csv _meta as metadata';

  create function import_unchecked(_meta json) returns json language sql as 'select _meta';
  comment on function import_unchecked is '
    HTTP
    upload for csv _meta as metadata
    check_format = false
    row_command = select $2';

  create function import_wrong() returns void language sql as '';
  comment on function import_wrong is '
    HTTP
    upload for csv
    row_command = select process_csv_row($1, $2, $3, $5)';
`);

async function upload(path: string, ...contents: readonly (string | Uint8Array<ArrayBuffer>)[]) {
  const files = contents.map((content, index): FormEntry => [`books${index + 1}.csv`, content, 'text/csv']);
  const { status, type, body } = await gateway.send(`POST /api/${path}`, { body: form(...files) });
  return { status, type, body: JSON.parse(body) as unknown };
}

/** Returns the rows of the table, and removes them. */
async function takeBooks(columns: string): Promise<unknown> {
  const rows = await gateway.database.query(`select ${columns} from book order by line`);
  await gateway.database.query('truncate book');
  return rows;
}

const json = 'application/json';
const problem = 'application/problem+json';

describe('a CSV upload', () => {
  test('runs the command for each row and returns the last result', async () => {
    expect(await upload('import', '\ufefftitle,price\r\n"Emma, a novel",9.50\r\n\r\nPersuasion, \r\n')).toEqual({
      status: 200,
      type: json,
      body: [
        {
          type: 'csv',
          fileName: 'books1.csv',
          contentType: 'text/csv',
          size: 54,
          success: true,
          status: 'Ok',
          lastResult: { rows: 2 },
        },
      ],
    });
    const metadata = { type: 'csv', fileName: 'books1.csv', contentType: 'text/csv' };
    expect(await takeBooks('line, title, price, previous, metadata')).toEqual([
      { line: 2, title: 'Emma, a novel', price: '9.50', previous: '{"rows": 0}', metadata },
      { line: 4, title: 'Persuasion', price: null, previous: '{"rows": 1}', metadata },
    ]);
  });

  test('has options in the comment, with templates', async () => {
    expect(await upload('import-fast?separator=;', '"Emma";9.50\nPersuasion\t8\n')).toMatchObject({
      status: 200,
      body: [{ success: true, lastResult: ['Persuasion', '8'] }],
    });
    expect(await takeBooks('line, title, price')).toEqual([
      { line: 1, title: '"Emma"', price: '9.50' },
      { line: 2, title: 'Persuasion', price: '8' },
    ]);
  });

  test('can call a procedure', async () => {
    expect(await upload('import-by-call', 'Emma\nPersuasion\nSanditon\n')).toMatchObject({
      status: 200,
      body: [{ success: true, lastResult: 1.5 }],
    });
    expect(await takeBooks('line, title')).toEqual([
      { line: 1, title: 'Emma' },
      { line: 2, title: 'Persuasion' },
      { line: 3, title: 'Sanditon' },
    ]);
  });

  test('of several files has one object for each', async () => {
    expect(await upload('import', 'title\nEmma,1\n', 'title\n')).toMatchObject({
      status: 200,
      body: [
        { fileName: 'books1.csv', lastResult: { rows: 1 } },
        { fileName: 'books2.csv', lastResult: { rows: 0 } },
      ],
    });
    expect(await takeBooks('line, title')).toEqual([{ line: 2, title: 'Emma' }]);
  });
});

test('a command with another parameter is an error at start', () => {
  const diagnostics = gateway.observations.flatMap((each) => (each.kind === 'diagnostic' ? [each.diagnostic] : []));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    {
      routine: 'public.import_wrong()',
      line: 4,
      message:
        'row_command of the upload handler csv takes an SQL command with no parameters but $1 (number), $2 (fields), $3 (previous result) and $4 (metadata), not "select process_csv_row($1, $2, $3, $5)"',
    },
  ]);
});

test('a mistake in a command is reported at start, at its place, but not a privilege, which the role of a call may have', async () => {
  const role = `importing_${randomBytes(4).toString('hex')}`;
  const database = await freshDatabase(`
    create role ${role} login password 'x';
    create schema hidden; create table hidden.book (title text);
    create function import_a() returns void language sql as '';
    comment on function import_a is 'HTTP
upload for csv
row_command = select upper($2[1]), missing($1)';
    create function import_b() returns void language sql as '';
    comment on function import_b is 'HTTP
upload for csv';
    create function import_c() returns void language sql as '';
    comment on function import_c is 'HTTP
upload for csv
row_command = insert into hidden.book values ($2[1])';
  `);
  onTestFinished(async () => {
    await database.query(`drop role ${role}`);
    await database.drop();
  });
  const url = Object.assign(new URL(database.connectionString), { username: role, password: 'x' });
  const gateway = await createGateway({ connectionString: url.href });
  onTestFinished(() => gateway.close());
  expect(gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([
    {
      severity: 'warning',
      code: 'upload-command',
      routine: 'public.import_a()',
      line: 3,
      message: [
        'row_command of the upload handler "csv": function missing(unknown) does not exist (No function matches the given name and argument types. You might need to add explicit type casts.)',
        '  select upper($2[1]), missing($1)',
        '                       ^',
      ].join('\n'),
    },
    {
      severity: 'warning',
      code: 'upload-command',
      routine: 'public.import_b()',
      line: null,
      message: [
        'row_command of the upload handler "csv": function process_csv_row(unknown, text[], unknown, unknown) does not exist (No function matches the given name and argument types. You might need to add explicit type casts.)',
        '  select process_csv_row($1,$2,$3,$4)',
        '         ^',
      ].join('\n'),
    },
  ]);
  expect(gateway.endpoints).toHaveLength(3);
});

describe('a file that is no text', () => {
  test.each([
    ['Empty', ''],
    ['NoNewLines', 'title,price'],
    ['ProbablyBinary', 'title\n\0'],
  ])('is refused as %s, and the function runs', async (status, content) => {
    expect(await upload('import', content)).toEqual({
      status: 200,
      type: json,
      body: [
        { type: 'csv', fileName: 'books1.csv', contentType: 'text/csv', size: content.length, success: false, status },
      ],
    });
    expect(await takeBooks('*')).toEqual([]);
  });

  test('is accepted without check_format', async () => {
    expect(await upload('import-unchecked', '', 'title,price')).toMatchObject({
      status: 200,
      body: [
        { size: 0, success: true, status: 'Ok', lastResult: null },
        { success: true, status: 'Ok', lastResult: ['title', 'price'] },
      ],
    });
  });
});

describe('nothing is stored', () => {
  test('when a row fails, and the problem names it', async () => {
    expect(await upload('import', 'title\nEmma,9\n', 'title\n\nSanditon,ten\n')).toEqual({
      status: 400,
      type: problem,
      body: {
        type: 'urn:pgway:problem:database-error',
        title: 'invalid input syntax for type numeric: "ten"',
        status: 400,
        code: '22P02',
        file: 'books2.csv',
        row: 3,
      },
    });
    expect(await takeBooks('*')).toEqual([]);
  });

  test('when a later row of a batch fails', async () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `title;${index === 776 ? 'ten' : index}\n`);
    expect(await upload('import-fast?separator=;', lines.join(''))).toMatchObject({
      status: 400,
      type: problem,
      body: { code: '22P02', file: 'books1.csv', row: 777 },
    });
    expect(await takeBooks('*')).toEqual([]);
  });

  test('when the file is malformed', async () => {
    expect(await upload('import', 'title\nEmma,9\n"Sanditon,1\n')).toEqual({
      status: 400,
      type: problem,
      body: {
        type: 'urn:pgway:problem:malformed-file',
        title: 'An uploaded file cannot be read',
        status: 400,
        detail: 'The record that begins in line 3 of the file "books1.csv" has a quote that is not closed.',
        file: 'books1.csv',
        line: 3,
      },
    });
    expect(await takeBooks('*')).toEqual([]);
  });

  test('when bytes are not UTF-8', async () => {
    expect(
      await upload('import', Uint8Array.from(Buffer.from('title\nEmma,9\nK\u00f6nig,1\n', 'latin1'))),
    ).toMatchObject({
      status: 400,
      type: problem,
      body: {
        detail: 'The record that begins in line 3 of the file "books1.csv" has bytes that are not UTF-8.',
      },
    });
    expect(await takeBooks('*')).toEqual([]);
  });

  test('when the function fails', async () => {
    expect(await upload('import-and-fail', 'title\nEmma,9\n')).toMatchObject({
      status: 400,
      type: problem,
      body: { title: 'the import is refused', code: 'P0001' },
    });
    expect(await takeBooks('*')).toEqual([]);
  });
});
