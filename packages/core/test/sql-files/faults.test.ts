import { chmod, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFilesSource, StartError } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFolder, startWithFiles, useFiles } from './folder.ts';

const sql = `create table film (film_id int primary key, title text not null);`;

const mistakes: readonly (readonly [text: string, line: number, message: string])[] = [
  [
    'select film_id, titel\nfrom film',
    2,
    `column 17: column "titel" does not exist (Perhaps you meant to reference the column "film.title".)\n  select film_id, titel\n                  ^`,
  ],
  [
    `select film_id from film where title = :text and film_idd = :id`,
    2,
    `column 50: column "film_idd" does not exist (Perhaps you meant to reference the column "film.film_id".)\n  select film_id from film where title = :text and film_idd = :id\n                                                   ^`,
  ],
  ['selec 1', 2, 'column 1: syntax error at or near "selec"\n  selec 1\n  ^'],
  ['select 1;\nselect 2\nfrom films', 4, 'column 6: relation "films" does not exist\n  from films\n       ^'],
  [
    "select '€🙂', 'a' from films",
    2,
    `column 23: relation "films" does not exist\n  select '€🙂', 'a' from films\n                         ^`,
  ],
  [
    'select title from film where film_id = :id; select title from film where title = :id',
    2,
    'column 82: the parameter :id is of type integer in one statement and of type text here; set its type: param id type integer',
  ],
  [
    'select $1::int + :a',
    2,
    'column 18: the file has parameters of both styles, "$1" and "a"; use :name or $1 everywhere',
  ],
  ['select $2::int', 2, 'column 8: there is no $1, but a $2; number the parameters from $1'],
  [
    '-- param titel default 1\nselect :title::text',
    2,
    'no statement of the file has the parameter "titel"; did you mean "title"?',
  ],
  [
    '-- param me claim sub\nselect :me::text',
    2,
    '"claim sub" says nothing of the parameter me; write param me type int, param me default 20 or param me is claim sub',
  ],
  [
    '-- define_param page innt\nselect 1',
    2,
    'column 22: type "innt" does not exist: define_param page innt sets a type; correct it\n  -- define_param page innt',
  ],
  [
    "/*\n * param page default 1\n * param page type innt default 'innt'\n */\nselect :page",
    4,
    'column 20: type "innt" does not exist: param page innt sets a type; correct it, or change the name in the statement\n   * param page type innt default \'innt\'\n                     ^',
  ],
  ["select 'open", 2, "column 8: a string literal that begins here has no closing '"],
  ['select 1 /* open', 2, 'column 10: the comment that begins here has no closing */'],
  [
    '\\i other.sql\nselect 1',
    2,
    'column 1: "\\" begins a command of psql, which the server does not know; remove the line',
  ],
  ['select 1; commit; select 2', 2, 'column 11: commit controls the transaction, which the gateway begins and ends'],
  ['copy film from stdin', 2, 'column 1: copy reads or writes a stream of its own, which a response cannot contain'],
  ['set role postgres; select 1', 2, 'column 1: a file cannot set the role or the session user'],
  ['set local session authorization postgres; select 1', 2, 'column 1: a file cannot set the role'],
  ['reset role; select 1', 2, 'column 1: a file cannot set the role'],
  ['reset session authorization', 2, 'column 1: a file cannot set the role'],
  ['reset all', 2, 'column 1: a file cannot set the role'],
  ['SET "role" TO postgres', 2, 'column 1: a file cannot set the role'],
  [
    "select set_config('role', 'none', true)",
    2,
    'column 1: a file cannot set the role or the session user: calls run with the role of the call; remove the statement',
  ],
  [
    `select 1;\nselect pg_catalog."set_config"(setting_name => E'Role', new_value => 'none', is_local => true)`,
    3,
    'column 1: a file cannot set the role',
  ],
  ['discard all', 2, 'column 1: discard belongs to a session, and each call may use another one'],
  ['prepare p as select 1', 2, 'column 1: prepare belongs to a session'],
  ['execute p', 2, 'column 1: execute belongs to a session'],
  ['deallocate all', 2, 'column 1: deallocate belongs to a session'],
  ['declare c cursor for select 1', 2, 'column 1: declare belongs to a session'],
  ['listen channel; select 1', 2, 'column 1: listen belongs to a session'],
  ['explain select 1; select 2', 2, 'column 1: the result of explain cannot be a part of an object'],
];

describe('a mistake is reported with its place, and the other files work', () => {
  const files = useFiles(sql, {
    'good.sql': '-- HTTP\nselect 1',
    ...Object.fromEntries(mistakes.map(([text], index) => [`m${index}.sql`, `-- HTTP GET /m${index}\n${text}\n`])),
  });

  test.each(mistakes.map((mistake, index) => [...mistake, index] as const))('%j', (_, line, message, index) => {
    const own = files
      .current()
      .gateway.diagnostics.filter(({ routine, severity }) => routine === `m${index}.sql` && severity === 'error');
    expect(own.map((diagnostic) => [diagnostic.line, diagnostic.message])).toEqual([
      [line, expect.stringContaining(message)],
    ]);
    expect(files.current().gateway.endpoints.some(({ id }) => id === `m${index}.sql`)).toBe(false);
  });

  test('the other files', async () => {
    expect((await files.current().send('GET /api/good')).body).toBe('[1]');
  });
});

test('strict: a mistake fails the start', async () => {
  const start = startWithFiles(sql, { 'bad.sql': '-- HTTP\nselect titel from film' }, { gateway: { strict: true } });
  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow(/bad\.sql line 2: column 8: column "titel" does not exist/);
});

test('two files with one path are an error for both', async () => {
  const gateway = await startWithFiles(sql, { 'a/films.sql': '-- HTTP\nselect 1', 'b/films.sql': '-- HTTP\nselect 2' });
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.endpoints).toEqual([]);
  expect(gateway.gateway.diagnostics.map(({ routine, severity }) => [routine, severity])).toEqual([
    ['a/films.sql', 'error'],
    ['b/films.sql', 'error'],
  ]);
});

test('folders are part of the path by an option', async () => {
  const files = { 'api/admin/users.sql': '-- HTTP\nselect 1', 'api/old_ones/users.sql': '-- HTTP\nselect 2' };
  const gateway = await startWithFiles(sql, files, { files: 'api/**/*.sql', folderPaths: true });
  onTestFinished(() => gateway.close());
  expect((await gateway.send('GET /api/admin/users')).body).toBe('[1]');
  expect((await gateway.send('GET /api/old-ones/users')).body).toBe('[2]');
});

test.each(['../*.sql', '/etc/*.sql', 'a/../../b.sql', 'C:\\x.sql'])('the pattern %j is refused', async (files) => {
  const folder = await createFolder({ 'a.sql': '-- HTTP\nselect 1' });
  const start = startGateway(sql, { routineSources: [sqlFilesSource({ files, folder })] });
  await expect(start).rejects.toThrow(/leads out of its folder; use a path below the folder/);
});

test('links, other encodings and names that no path can contain are refused', async () => {
  const folder = await createFolder({
    'good.sql': '-- HTTP\nselect 1',
    'a{b}.sql': '-- HTTP\nselect 1',
    'with space.sql': '-- HTTP\nselect 1',
  });
  const outside = await createFolder({ 'secret.sql': '-- HTTP\nselect 2', 'x/other.sql': '-- HTTP\nselect 3' });
  await symlink(join(outside, 'secret.sql'), join(folder, 'link.sql'));
  await symlink(join(outside, 'x'), join(folder, 'linked'));
  await writeFile(join(folder, 'latin.sql'), Buffer.from("-- HTTP\nselect '\xe9'", 'latin1'));
  const gateway = await startGateway(sql, { routineSources: [sqlFilesSource({ files: '**/*.sql', folder })] });
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.endpoints.map(({ id }) => id)).toEqual(['good.sql']);
  expect(gateway.gateway.diagnostics.map(({ routine, message }) => `${routine}: ${message.slice(0, 40)}`)).toEqual([
    'linked: is a link to a folder that is outside of',
    'a{b}.sql: the name of the file has characters that',
    'latin.sql: is not encoded in UTF-8; save it as UTF-',
    `link.sql: ${`is outside of ${await realpath(folder)}`.slice(0, 40)}`,
    'with space.sql: the name of the file has characters that',
  ]);
});

test('a mistake in a command for the rows of an upload is a warning with line and place', async () => {
  const gateway = await startWithFiles(sql, {
    'import.sql':
      '-- HTTP\n-- upload for csv\n-- row_command = insert into film (title) values ($2[1], titel)\nselect count(*) from film;',
  });
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([
    {
      severity: 'warning',
      code: 'upload-command',
      routine: 'import.sql',
      line: 3,
      message: [
        'row_command of the upload handler "csv": column "titel" does not exist (Perhaps you meant to reference the column "film.title".)',
        '  insert into film (title) values ($2[1], titel)',
        '                                          ^',
      ].join('\n'),
    },
  ]);
});

test('a pattern without a file is a warning', async () => {
  const gateway = await startWithFiles(sql, { 'readme.txt': 'text' });
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.diagnostics).toMatchObject([
    {
      severity: 'warning',
      routine: '**/*.sql',
      message: 'no SQL file matches; correct the pattern, or create the file',
    },
  ]);
});

test('files without a statement have no endpoint, folders are skipped, and messages count lines and columns with BOM and CRLF', async () => {
  const folder = await createFolder({
    'good.sql': '-- HTTP\nselect 1',
    'empty.sql': '',
    'comments.sql': '-- HTTP GET /comments\n/* select 1 */\n',
    'note.sql': '-- A note.\n',
    'bom.sql': '\uFEFF-- HTTP\nselect 2',
    'bom-fault.sql': '\uFEFF-- HTTP\nselect titel from film',
    'crlf.sql': '-- HTTP\r\n-- param a default 3\r\nselect :a::int\r\n',
    'crlf-fault.sql':
      '-- HTTP\r\n-- param id int\r\nselect film_id,\r\n  titel\r\nfrom film\r\nwhere film_id = :id\r\n',
  });
  await mkdir(join(folder, 'folder.sql'));
  const started = await startGateway(sql, { routineSources: [sqlFilesSource({ files: '**/*.sql', folder })] });
  onTestFinished(() => started.close());
  const { gateway, send } = started;
  const unknown = 'column "titel" does not exist (Perhaps you meant to reference the column "film.title".)';
  expect(gateway.diagnostics.map(({ routine, line, message }) => [routine, line, message])).toEqual([
    ['bom-fault.sql', 2, `column 8: ${unknown}\n  select titel from film\n         ^`],
    ['crlf-fault.sql', 4, `column 3: ${unknown}\n    titel\n    ^`],
  ]);
  expect(gateway.endpoints.map(({ id }) => id).toSorted()).toEqual(['bom.sql', 'crlf.sql', 'good.sql']);
  expect((await send('GET /api/bom')).body).toBe('[2]');
  expect((await send('GET /api/crlf')).body).toBe('[3]');
});

test('names that differ in case only have one path: an error for both', async () => {
  const folder = await createFolder({ 'Same.sql': '-- HTTP\nselect 4' });
  await writeFile(join(folder, 'same.sql'), '-- HTTP\nselect 5', { flag: 'wx' }).catch(() => null);
  const names = (await readdir(folder)).toSorted();
  const started = await startGateway(sql, { routineSources: [sqlFilesSource({ files: '*.sql', folder })] });
  onTestFinished(() => started.close());
  // One file where the file system ignores the case.
  const others: readonly (readonly [string, string])[] =
    names.length === 1
      ? []
      : [
          ['Same.sql', 'same.sql'],
          ['same.sql', 'Same.sql'],
        ];
  expect(started.gateway.diagnostics.map(({ routine, message }) => [routine, message])).toEqual(
    others.map(([name, other]) => [
      name,
      `GET "/api/same" is also the route of ${other} ("/api/same"), so neither is published; set another path for one of them`,
    ]),
  );
});

/** Permissions do not restrict root. When root runs the tests, they read with the user id of the account `nobody`. */
async function asOrdinaryUser(run: () => Promise<void>): Promise<void> {
  if (process.getuid!() !== 0) return run();
  process.seteuid!(65_534);
  try {
    await run();
  } finally {
    process.seteuid!(0);
  }
}

test.skipIf(process.getuid === undefined)('files and folders that cannot be read are errors', async () => {
  const folder = await realpath(
    await createFolder({
      'good.sql': '-- HTTP\nselect 1',
      'private.sql': '-- HTTP\nselect 2',
      'closed/hidden.sql': '-- HTTP\nselect 3',
      'listed/known.sql': '-- HTTP\nselect 4',
    }),
  );
  const source = sqlFilesSource({ files: '**/*.sql', folder });
  const started = await startGateway(sql, { routineSources: [source] });
  onTestFinished(() => started.close());
  const { gateway } = started;
  expect(gateway.endpoints).toHaveLength(4);
  const before = await source.readVersions();
  const setModes = (modes: Readonly<Record<string, number>>): Promise<unknown> =>
    Promise.all(Object.entries(modes).map(([path, mode]) => chmod(join(folder, path), mode)));
  await setModes({ '.': 0o755, 'private.sql': 0, closed: 0, listed: 0o644 });
  await asOrdinaryUser(() => gateway.refresh());
  const advice = 'allow the user of this process to read';
  expect(gateway.diagnostics.map(({ severity, routine, message }) => [severity, routine, message])).toEqual([
    ['error', 'closed', `cannot be read (EACCES: permission denied, scandir '${folder}/closed'); ${advice} the folder`],
    [
      'error',
      'listed/known.sql',
      `cannot be read (EACCES: permission denied, lstat '${folder}/listed/known.sql'); ${advice} it`,
    ],
    ['error', 'private.sql', `cannot be read (EACCES: permission denied, open '${folder}/private.sql'); ${advice} it`],
  ]);
  expect(gateway.endpoints.map(({ id }) => id)).toEqual(['good.sql']);
  // A change of permissions is a change of the file for hosts that watch.
  await asOrdinaryUser(async () => {
    const during = await source.readVersions();
    expect([...during.keys()]).toEqual(['good.sql', 'listed/known.sql', 'private.sql']);
    expect(during.get('private.sql')).not.toBe(before.get('private.sql'));
  });
  await setModes({ 'private.sql': 0o644, closed: 0o755, listed: 0o755 });
  await asOrdinaryUser(() => gateway.refresh());
  expect(gateway.diagnostics).toEqual([]);
  expect(gateway.endpoints).toHaveLength(4);
});
