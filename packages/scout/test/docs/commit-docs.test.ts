import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { type Outcome, scout } from '../support/scout.ts';

const schema = `
  drop schema if exists shop cascade;
  create schema shop;
  create table shop.film (id int, title text);
  comment on table shop.film is 'Films';
  comment on column shop.film.title is 'The title';
  create function shop.cheap(_below numeric, variadic _tags text[]) returns int language sql as 'select 1';
  comment on function shop.cheap is E'HTTP GET /cheap\\nauthorize clerk';
  create procedure shop.clean(a int, inout b int) language sql as 'select 1';
  create aggregate shop.total(order by int) (sfunc = int4pl, stype = int);
  create type shop.size as enum ('s');
  create domain shop.price as numeric;
  create view shop.titles as select title from shop.film;
  create materialized view shop.counts as select count(*) from shop.film`;

let database: TestDatabase;
let dictionary: string;

beforeAll(async () => {
  database = await freshDatabase(schema);
  dictionary = (await scout(['--docs', 'shop', '-c', database.connectionString])).stdout;
  return () => database.drop();
});

beforeEach(async () => {
  await database.query(schema);
});

interface Dictionary {
  readonly folder: string;
  readonly file: string;
  readonly text: string;
}

async function writeDocs(): Promise<Dictionary> {
  const folder = await folderWith({ 'docs.md': dictionary });
  return { folder, file: join(folder, 'docs.md'), text: dictionary };
}

/** Writes the file with these replacements, and commits it. */
async function commit(
  { folder, file, text }: Dictionary,
  replacements: readonly (readonly [from: string, to: string])[],
  ...argv: readonly string[]
): Promise<Outcome> {
  let content = text;
  for (const [from, to] of replacements) {
    expect(content).toContain(from);
    content = content.replace(from, () => to);
  }
  await writeFile(file, content);
  return scout(['--commit-docs', 'docs.md', ...argv, '-c', database.connectionString], { folder });
}

async function comments(): Promise<readonly string[]> {
  const rows = await database.query(
    `select pg_describe_object(classoid, objoid, objsubid) || ': ' || description as line from pg_description
     where objoid >= 16384 order by 1`,
  );
  return rows.map(({ line }) => String(line));
}

const before = [
  'column title of table shop.film: The title',
  'function shop.cheap(numeric,text[]): HTTP GET /cheap\nauthorize clerk',
  'table shop.film: Films',
];

test('an edited comment is written, and can be edited again', async () => {
  const docs = await writeDocs();
  const edits = [
    ['The title', "It's \\*the\\* title<br>a_b \\| c &lt;"],
    ['\nauthorize clerk\n', '\nauthorize clerk, admin\nC:\\films\n'],
  ] as const;
  expect(await commit(docs, edits)).toEqual({
    code: 1,
    stdout: `COMMENT ON COLUMN shop.film.title IS 'It''s *the* title
a_b | c <';

COMMENT ON FUNCTION shop.cheap(_below numeric, VARIADIC _tags text[]) IS E'HTTP GET /cheap
authorize clerk, admin
C:\\\\films';
`,
    stderr: 'pgscout: nothing is changed: without a terminal, --yes runs the statements\n',
  });
  expect(await comments()).toEqual(before);
  expect(await commit(docs, edits, '--yes')).toMatchObject({
    code: 0,
    stderr: '2 comments written to the database\n',
  });
  const after = [
    "column title of table shop.film: It's *the* title\na_b | c <",
    'function shop.cheap(numeric,text[]): HTTP GET /cheap\nauthorize clerk, admin\nC:\\films',
    'table shop.film: Films',
  ];
  expect(await comments()).toEqual(after);

  const again = { ...docs, text: await readFile(docs.file, 'utf8') };
  expect(await commit(again, [])).toEqual({ code: 0, stdout: '', stderr: 'no comment is edited\n' });
  expect(await commit(again, [['clerk, admin', 'manager']], '--yes')).toMatchObject({
    code: 0,
    stderr: '1 comment written to the database\n',
  });
  expect((await comments())[1]).toContain('authorize manager');
});

test('a comment is added to each kind of object, and removed', async () => {
  const docs = await writeDocs();
  const starts = docs.text.match(/<!-- pgscout (?!docs).*? none -->\n?/g)!;
  const { code, stdout } = await commit(
    docs,
    [
      ...starts.map((start, index) => [start, `${start}New ${index}${start.endsWith('\n') ? '\n' : ''}`] as const),
      ['\nFilms\n', '\n'],
    ],
    '--yes',
  );
  // PostgreSQL 14 and later write the mode of all arguments of procedures.
  expect([code, stdout.replace('(IN a', '(a')]).toEqual([
    0,
    `COMMENT ON SCHEMA shop IS 'New 0';

COMMENT ON TABLE shop.film IS NULL;

COMMENT ON COLUMN shop.film.id IS 'New 1';

COMMENT ON VIEW shop.titles IS 'New 2';

COMMENT ON COLUMN shop.titles.title IS 'New 3';

COMMENT ON MATERIALIZED VIEW shop.counts IS 'New 4';

COMMENT ON COLUMN shop.counts.count IS 'New 5';

COMMENT ON TYPE shop.size IS 'New 6';

COMMENT ON DOMAIN shop.price IS 'New 7';

COMMENT ON PROCEDURE shop.clean(a integer, INOUT b integer) IS 'New 8';

COMMENT ON AGGREGATE shop.total(ORDER BY integer) IS 'New 9';
`,
  ]);
  expect(await comments()).toHaveLength(before.length - 1 + starts.length);
});

test('line endings, a missing last line and reflowed text outside of the markers are no edits', async () => {
  const docs = await writeDocs();
  const same = { code: 0, stdout: '', stderr: 'no comment is edited\n' };
  expect(await commit({ ...docs, text: `\uFEFF${docs.text.replaceAll('\n', '\r\n')}` }, [])).toEqual(same);
  const end = docs.text.lastIndexOf(' -->') + 4;
  expect(await commit({ ...docs, text: docs.text.slice(0, end) }, [])).toEqual(same);
  const reflowed = docs.text
    .replaceAll('|---|', '| ----- | ')
    .replaceAll('| ', '|    ')
    .replace(/(<!-- pgscout .* -->)\n/g, '$1\n\n')
    .replaceAll('\n<!-- /pgscout -->', '\n\n<!-- /pgscout -->')
    .replace('# Database dictionary', 'Title\n=====');
  expect(await commit({ ...docs, text: reflowed }, [])).toEqual(same);
});

test('an edit of a comment that has changed in the database is refused, and nothing else is written', async () => {
  const docs = await writeDocs();
  await database.query(`comment on table shop.film is 'All films'; comment on column shop.film.id is 'The key'`);
  expect(
    await commit(
      docs,
      [
        ['Films', 'Our films'],
        ['The title', 'Its title'],
      ],
      '--yes',
    ),
  ).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'pgscout: docs.md:20: the comment of TABLE shop.film has changed in the database since the file was written\n' +
      'docs.md: nothing is changed; pgscout --docs prints the comments of the database\n',
  });
  expect(await comments()).toContain('column title of table shop.film: The title');
  // Without an edit, or with the same one, the file is only older.
  expect(
    await commit(
      docs,
      [
        ['Films', 'All films'],
        ['The title', 'Its title'],
      ],
      '--yes',
    ),
  ).toEqual({
    code: 0,
    stdout: "COMMENT ON COLUMN shop.film.title IS 'Its title';\n",
    stderr:
      'the file is older than the database, and keeps these as they are: COLUMN shop.film.id\n1 comment written to the database\n',
  });
  expect(await comments()).toEqual([
    'column id of table shop.film: The key',
    'column title of table shop.film: Its title',
    before[1],
    'table shop.film: All films',
  ]);
});

test('an edit of an object that the database does not have is refused', async () => {
  const docs = await writeDocs();
  await database.query('alter table shop.film rename title to name; drop type shop.size');
  expect(await commit(docs, [['The title', 'Its title']], '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'pgscout: docs.md:27: the database has no COLUMN shop.film.title\n' +
      'docs.md: nothing is changed; pgscout --docs prints the comments of the database\n',
  });
  expect(await commit(docs, [])).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'the file is older than the database, and keeps these as they are: COLUMN shop.film.title and 1 more\nno comment is edited\n',
  });
});

test('an error of the server leaves all comments as they are', async () => {
  const docs = await writeDocs();
  const role = `pgscout_${Date.now()}`;
  await database.query(`
    create role ${role} login password 'secret';
    alter table shop.film owner to ${role}; grant usage on schema shop to ${role}`);
  onTestFinished(async () => {
    await database.query(`drop owned by ${role} cascade; drop role ${role}`);
  });
  const url = new URL(database.connectionString);
  url.username = role;
  url.password = 'secret';
  await writeFile(docs.file, docs.text.replace('Films', 'Our films').replace('authorize clerk', 'authorize'));
  expect(await scout(['--commit-docs', 'docs.md', '--yes', '-c', url.href], { folder: docs.folder })).toMatchObject({
    code: 1,
    stderr:
      'pgscout: nothing is changed: the server reports for FUNCTION shop.cheap(numeric, text[]): must be owner of function shop.cheap\n',
  });
  expect(await comments()).toEqual(before);
});

const noEnd = 'has no end: its end marker, or the line below its block of code, is missing';

/** Each damage with the line and message. */
const damages: readonly (readonly [damage: (text: string) => string, message: string])[] = [
  [(text) => text.replace('Films\n<!-- /pgscout -->', 'Films'), `20: the comment of TABLE shop.film ${noEnd}`],
  [
    (text) => text.slice(0, text.lastIndexOf('<!-- /pgscout')),
    `83: the comment of AGGREGATE shop.total(integer) ${noEnd}`,
  ],
  [(text) => text.replace('clerk\n```', 'clerk'), `63: the comment of FUNCTION shop.cheap(numeric, text[]) ${noEnd}`],
  [
    (text) => text.replace('clerk\n```', 'clerk\n```\nMore'),
    `63: the comment of FUNCTION shop.cheap(numeric, text[]) ${noEnd}`,
  ],
  [(text) => text.replace(/<!-- pgscout TABLE.*\n/, ''), '21: an end marker without a start marker'],
  [(text) => text.replace(/(<!-- pgscout TABLE shop.film).*? -->/, '$1 -->'), '20: the marker is damaged'],
  [(text) => text.replace(/(<!-- pgscout TABLE shop.film).*/, '$1'), '20: the marker is damaged'],
  [(text) => text.replace('COLUMN shop.film.id', 'TABLE shop.film'), '26: TABLE shop.film is already in line 20'],
  [
    (text) => text.replace('Films', '&#0;'),
    '20: the comment of TABLE shop.film has a character that PostgreSQL cannot store',
  ],
];

test('damaged markers are named with their lines, and nothing is written', async () => {
  const docs = await writeDocs();
  for (const [damage, message] of damages) {
    const text = damage(docs.text).replace('The title', 'Its title');
    expect(await commit({ ...docs, text }, [], '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr: `pgscout: docs.md:${message}\ndocs.md: nothing is changed; correct the lines\n`,
    });
  }
  const all = docs.text.replaceAll('none -->', '-->');
  const { stderr } = await commit({ ...docs, text: all }, [], '--yes');
  expect(stderr.match(/the marker is damaged/g)).toHaveLength(docs.text.match(/none -->/g)!.length);
  expect(await comments()).toEqual(before);
});

test('files that are no dictionary', async () => {
  const folder = await folderWith({ 'notes.md': '# Notes\n', 'later.md': '<!-- pgscout docs 2 -->\n' });
  await writeFile(join(folder, 'latin.md'), Buffer.from('<!-- pgscout docs 1 -->\n\xe9', 'latin1'));
  const run = (...argv: readonly string[]): Promise<Outcome> =>
    scout(['--commit-docs', ...argv, '-c', database.connectionString], { folder });
  const outcomes = [
    await run('notes.md'),
    await run('later.md'),
    await run('latin.md'),
    await run('none.md'),
    await run('.'),
    await run('a.md', 'b.md'),
  ];
  expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual([
    [1, 'pgscout: notes.md: not a dictionary: it does not have the first line that pgscout --docs writes\n'],
    [1, 'pgscout: later.md: written by a later version of pgscout; install that one\n'],
    [1, 'pgscout: latin.md: not a text in UTF-8; save it in that encoding\n'],
    [1, 'pgscout: none.md: no such file\n'],
    [1, 'pgscout: .: cannot read the file (EISDIR)\n'],
    [2, 'pgscout: --commit-docs: needs one file, as in --commit-docs docs.md\n'],
  ]);
});
