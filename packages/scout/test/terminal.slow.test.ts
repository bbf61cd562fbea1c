/** Questions on a terminal, answered by a program. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { runOnTerminal, runProgram } from './support/program.ts';

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;
if (!hasPython) console.log('skipped: python3 with the module pty is not installed');

/** Whether a file system can be mounted: by root, but not in every container. */
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

const database = useDatabase('create domain rating as int; create view hours as select 1 as hour group by 1');

beforeAll(build);

test.runIf(hasPython)(
  'asks for the connection with defaults, hides the password, and writes the settings file',
  async () => {
    const { hostname, port, username, password, pathname } = new URL(database.connectionString);
    const folder = await folderWith();
    const secret = decodeURIComponent(password);
    const { code, screen } = await runOnTerminal(
      ['--list', 'rating'],
      [
        ['Server [localhost]: ', hostname],
        ['Port [5432]: ', 'x'],
        ['Port [5432]: ', port],
        ['Database [postgres]: ', pathname.slice(1)],
        ['User [', username],
        ['Password: ', secret],
        ['Write this connection', 'y'],
      ],
      { folder },
    );
    expect(code).toBe(0);
    expect(screen).toContain('DOMAIN public.\u001b[1;33mrating\u001b[0m\n');
    expect(screen).not.toContain(secret);
    const file = await readFile(join(folder, 'pgscout.json'), 'utf8');
    expect(JSON.parse(file)).toEqual({
      ConnectionStrings: { default: `postgres://${username}@${hostname}:${port}${pathname}` },
    });

    // The file has no password: it is asked for, or comes from the environment.
    const again = await runOnTerminal(
      ['--list', 'rating'],
      [[`Password of ${username} on ${hostname}:${port}: `, secret]],
      {
        folder,
        environment: { NO_COLOR: '1' },
      },
    );
    expect(again.code).toBe(0);
    expect(again.screen).toContain('DOMAIN public.rating\n');
    expect(again.screen).not.toContain(secret);
    expect(await runProgram(['--list', 'rating'], { folder, environment: { PGPASSWORD: secret } })).toEqual({
      code: 0,
      stdout: 'DOMAIN public.rating\n',
      stderr: '',
    });
  },
);

test.runIf(hasPython)('Ctrl-C at a question ends the program, and writes nothing', async () => {
  const folder = await folderWith();
  const { code, screen } = await runOnTerminal(['--list'], [['Server [', '\u0003']], { folder });
  expect([code, screen.trim().split('\n').at(-1)]).toEqual([1, expect.stringContaining('pgscout: cancelled')]);
  await expect(stat(join(folder, 'pgscout.json'))).rejects.toThrow('ENOENT');
});

describe.runIf(hasPython)('--commit-docs', () => {
  const connection = (): readonly string[] => ['-c', database.connectionString];
  const marker = '<!-- pgscout DOMAIN public.rating none -->\n';
  const statement = `COMMENT ON DOMAIN public.rating IS 'From 1 to 5';\n`;
  const question = 'Run this statement in one transaction? [y/N]: ';

  async function editedFile(): Promise<string> {
    const folder = await folderWith();
    const { stdout } = await runProgram(['--docs', 'rating', ...connection()], { folder });
    expect(stdout).toContain(marker);
    await writeFile(join(folder, 'docs.md'), stdout.replace(marker, `${marker}From 1 to 5\n`));
    return folder;
  }

  function commit(folder: string, answer: string | (() => Promise<string>)): ReturnType<typeof runOnTerminal> {
    return runOnTerminal(['--commit-docs', 'docs.md', ...connection()], [[question, answer]], { folder });
  }

  async function comment(): Promise<unknown> {
    const [row] = await database.query(`select obj_description('rating'::regtype, 'pg_type') as comment`);
    return row!['comment'];
  }

  test('prints the statements, and runs them after a yes', async () => {
    const folder = await editedFile();
    for (const answer of ['', 'no', '\u0003', '\u0004']) {
      const { code, screen } = await commit(folder, answer);
      expect([code, screen.startsWith(statement + question)]).toEqual([1, true]);
      expect(screen).toMatch(/pgscout: (nothing is changed|cancelled)\n$/);
    }
    expect(await comment()).toBe(null);
    const { code, screen } = await commit(folder, 'y');
    expect([code, screen.startsWith(statement + question)]).toEqual([0, true]);
    expect(screen).toMatch(/\n1 comment written to the database\n$/);
    expect(await comment()).toBe('From 1 to 5');
    await database.query('comment on domain rating is null');
  });

  test('a change during the question is kept, and a lost connection is reported', async () => {
    const folder = await editedFile();
    const changed = await commit(folder, async () => {
      await database.query(`comment on domain rating is 'From 1 to 6'`);
      return 'y';
    });
    expect(changed.code).toBe(1);
    expect(changed.screen).toMatch(
      /pgscout: nothing is changed: the comment of DOMAIN public.rating has just changed in the database\n$/,
    );
    expect(await comment()).toBe('From 1 to 6');
    await database.query('comment on domain rating is null');
    const lost = await commit(folder, async () => {
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'pgscout' and datname = current_database()`,
      );
      return 'y';
    });
    expect(lost.code).toBe(1);
    expect(lost.screen).toMatch(/pgscout: database .* as user .*: the connection was lost: .*\n$/);
    expect(await comment()).toBe(null);
  });
});

test('without a terminal, nothing is asked', async () => {
  expect(await runProgram(['--list'], { folder: await folderWith() })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: no database is named; pass --connection=postgres://user@host:5432/name, or set PGDATABASE\n',
  });
});

test('the built program has what --endpoints needs of the server', async () => {
  const folder = await folderWith({
    'pgway.json': {
      gateway: { commentsMode: 'parseAll', urlPathPrefix: '${PREFIX:/v1}' },
      crud: { enabled: true, routines: false },
    },
    '.env': 'PREFIX=/v2',
  });
  expect(await runProgram(['--endpoints', 'hour', '-c', database.connectionString], { folder })).toEqual({
    code: 0,
    stdout: `GET /v2/hours
  routine        select public.hours  published by commentsMode parseAll, which publishes every routine, from the source crud
  method         GET                  the operation select
  path           /v2/hours            option urlPathPrefix and the name of the view
  parameters     query                the method is GET
  authorization  anonymous            no authorize line
  QUERY          answered             it only reads
  planCacheMode  measured             the operation only reads
`,
    stderr: '',
  });
});

test('a reader that closes the pipe early is no error', async () => {
  const result = spawnSync('sh', [
    '-c',
    `"$0" "$1" --list -c "$2" | head -1`,
    process.execPath,
    join(import.meta.dirname, '../dist/bin.js'),
    database.connectionString,
  ]);
  expect([result.stdout.toString(), result.stderr.toString()]).toEqual(['SCHEMA public\n', '']);
});

describe('a disk without space', () => {
  const commands = [
    ['--list'],
    ['--list', '--json'],
    ['--help'],
    ['--schema-dump'],
    ['--ddl', 'rating'],
    ['--inserts', 'select 1'],
  ];

  test.runIf(existsSync('/dev/full')).each(commands)('ends %s %s with an error', (...argv) => {
    expect(writeTo('/dev/full', argv)).toEqual({
      status: 1,
      stderr:
        'pgscout: the standard output cannot be written: ENOSPC: no space left on device, write; what was written is not complete\n',
    });
  });

  test.runIf(canMount)('also one that holds a part of the output', async () => {
    const folder = await folderWith();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder]);
    onTestFinished(() => void execFileSync('umount', [folder]));
    const { status, stderr } = writeTo(join(folder, 'rows.sql'), [
      '--inserts',
      'select * from generate_series(1, 1000) n',
    ]);
    expect([status, stderr]).toEqual([
      1,
      'pgscout: the standard output cannot be written: ENOSPC: no space left on device, write; what was written is not complete\n',
    ]);
    expect(statSync(join(folder, 'rows.sql')).size).toBe(4096);
  });
});

function writeTo(path: string, argv: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  const bin = join(import.meta.dirname, '../dist/bin.js');
  const { status, stderr } = spawnSync('sh', ['-c', `exec "$@" > '${path}'`, 'sh', process.execPath, bin, ...argv], {
    env: { ...process.env, DATABASE_URL: database.connectionString },
  });
  return { status, stderr: stderr.toString() };
}
