import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { openExampleDatabase } from '../../src/example/example-database.ts';
import { isShown } from '../docs/answer.ts';
import { curl, shellWords } from '../docs/curl.ts';
import { readPage } from '../docs/page.ts';
import { folderWith } from '../support/folder.ts';
import { ask, startServer } from '../support/postgres.ts';
import { bin, start as startProgram } from '../support/program.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

const schema = 'create table book (id int, title text);';
const data = `insert into book values (1, 'Emma'), (2, 'Ulysses');`;
const api = `create or replace function count_books() returns int language sql as $$ select count(*)::int from book $$;
comment on function count_books is 'HTTP';
create or replace procedure lend(_id int) language sql as $$ update book set title = title where id = _id $$;`;

/** An embedded PostgreSQL and a folder with the files of an example, of which `change` writes another `api.sql`. */
async function place(): Promise<{
  readonly superuser: string;
  readonly open: () => ReturnType<typeof openExampleDatabase>;
  readonly change: (text: string) => Promise<string>;
}> {
  const { connectionString } = await startServer();
  const folder = await folderWith({ 'schema.sql': schema, 'data.sql': data, 'api.sql': api });
  const file = join(folder, 'api.sql');
  return {
    superuser: connectionString,
    open: () => openExampleDatabase(connectionString, pathToFileURL(`${folder}/`)),
    change: async (text) => {
      await writeFile(file, text);
      return file;
    },
  };
}

async function routines(connectionString: string): Promise<readonly unknown[]> {
  const rows = await ask(
    connectionString,
    `select proname || '(' || pg_get_function_identity_arguments(oid) || ')' as name from pg_proc
     where pronamespace = 'public'::regnamespace order by 1`,
  );
  return rows.map(({ name }) => name);
}

describe('api.sql', () => {
  test('is applied at the start when it has changed: its earlier routines are dropped, those of the user stay', async () => {
    const { open, change } = await place();
    const first = await open();
    expect([first.state, await routines(first.connectionString)]).toEqual([
      'created',
      ['count_books()', 'lend(IN _id integer)'],
    ]);
    await ask(first.connectionString, `create function mine() returns int language sql as 'select 1'`);
    await ask(first.connectionString, `insert into book values (3, 'Mort')`);

    expect((await open()).state).toBe('unchanged');
    // Another result type, which `create or replace` alone would refuse; another signature; one routine less, one more.
    await change(`create or replace function count_books() returns text language sql as $$ select count(*)::text || ' books' from book $$;
      create function find_book(_id int) returns book language sql as $$ select * from book where id = _id $$;`);
    const changed = await open();
    expect([changed.state, await routines(changed.connectionString)]).toEqual([
      'changed',
      ['count_books()', 'find_book(_id integer)', 'mine()'],
    ]);
    expect(await ask(changed.connectionString, 'select count_books() as n')).toEqual([{ n: '3 books' }]);
    expect((await open()).state).toBe('unchanged');

    await change(api);
    expect([(await open()).state, await routines((await open()).connectionString)]).toEqual([
      'changed',
      ['count_books()', 'lend(IN _id integer)', 'mine()'],
    ]);
  });

  test('with an error changes nothing, and the message names the line', async () => {
    const { open, change } = await place();
    await open();
    const file = await change(
      `-- é🎈\n${api}\ncreate function broken() returns int language sql as $$\n  select no_such from book\n$$;`,
    );
    await expect(open()).rejects.toThrow(
      `cannot create the routines of the example database: ${file}:6: column "no_such" does not exist; pass --embedded.example=false to start without it`,
    );
    await change(api);
    const { state, connectionString } = await open();
    expect([state, await routines(connectionString)]).toEqual(['unchanged', ['count_books()', 'lend(IN _id integer)']]);
  });

  test('of a newer version with other tables says how to get them', async () => {
    const { open, change } = await place();
    await open();
    const file = await change(
      'create function count_covers() returns bigint language sql as $$ select count(*) from cover $$;',
    );
    await expect(open()).rejects.toThrow(
      `cannot create the routines of the example database: ${file}:1: relation "cover" does not exist; drop the database library, so that the next start creates it again, or pass --embedded.example=false to start without it`,
    );
  });

  test('is not applied when other objects depend on its routines', async () => {
    const { superuser, open, change } = await place();
    const { connectionString } = await open();
    await ask(connectionString, 'create view counted as select count_books()');
    await change('select 1;');
    await expect(open()).rejects.toThrow(
      'api.sql has changed, but its routines in the example database cannot be replaced: view counted depends on function count_books(); drop the dependent objects, or pass --embedded.example=false to start without it',
    );
    expect(await routines(superuser.replace(/postgres$/, 'library'))).toEqual([
      'count_books()',
      'lend(IN _id integer)',
    ]);
  });

  test('is applied over an example without a database comment', async () => {
    const { superuser, open } = await place();
    await open();
    await ask(superuser, `comment on database library is 'mine'`);
    expect([(await open()).state, (await open()).state]).toEqual(['changed', 'unchanged']);
  });
});

describe('README', () => {
  beforeAll(build);

  test('its first request works after the first start, and psql connects as the role of the gateway', async () => {
    const { steps } = readPage(root, 'README.md');
    const first = steps.find((step) => step.kind === 'command')!;
    const program = startProgram(await folderWith(), [process.execPath, bin, '--port=0']);
    const [, port] = await program.until(/endpoints at http:\/\/127\.0\.0\.1:(\d+) /);
    const { command, answer } = first as { readonly command: string; readonly answer: string };

    const printed = await curl(shellWords(command).slice(1), (shown) => (shown === '8080' ? Number(port) : 0));

    expect(isShown(answer, printed) ? answer : printed).toBe(answer);
    const [, psql] = await program.until(/^connect with: (psql ".*")$/m);
    const inside = await promisify(execFile)('sh', [
      '-c',
      `${psql} -Atc 'select current_user, usesuper from pg_user where usename = current_user'`,
    ])
      .then(({ stdout }) => stdout.trim())
      // Without psql on this machine, app-database.slow.test.ts checks the command.
      .catch((error: { code: number }) =>
        error.code === 127 ? 'librarian|f' : Promise.reject(new Error('psql failed', { cause: error })),
      );
    expect(inside).toBe('librarian|f');
  });

  test('shows the function of api.sql', () => {
    const [, shown] = /```sql\n([^]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))!;
    // The comment of a table follows.
    const [ofFunction, ofTable] = shown!.split(/(?=comment on table )/);
    expect(ofTable).toMatch(/^comment on table author /);
    expect(readFileSync(join(root, 'examples/library/api.sql'), 'utf8')).toContain(ofFunction!.trim());
  });
});
