/** The commands that README and guide give for a fresh checkout, run in one copy of its files. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { checkoutFiles, root } from './deploy/deploy-files.ts';
import { folderWith } from './support/folder.ts';
import { start } from './support/program.ts';

/** npm finds its cache and settings in HOME. */
const environment = {
  HOME: process.env['HOME'],
  NO_COLOR: '1',
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
};

async function copyOfCheckout(): Promise<string> {
  const folder = await folderWith();
  for (const name of checkoutFiles()) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await cp(join(root, name), join(folder, name), { verbatimSymlinks: true });
  }
  return folder;
}

/** Returns the command line of a page, which must have it as a line of its own. */
async function lineOf(page: string, line: string): Promise<string> {
  expect((await readFile(join(root, page), 'utf8')).split('\n')).toContain(line);
  return line;
}

/** Runs a command line in a shell. Its output is in the error of a failure. */
async function run(folder: string, command: string): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    cwd: folder,
    env: { PATH, ...environment },
    maxBuffer: 1 << 26,
  });
  return stdout;
}

// One test, because `npm ci` and a build of everything take minutes: what later lines repeat of them is left out.
test(
  'the command lines of README and guide work in a fresh checkout: they serve the example and a database, run the tests, and install the packages into a project and a folder of a service',
  { timeout: 1_800_000 },
  async () => {
    const checkout = await copyOfCheckout();

    const command = await lineOf('README.md', 'npm ci && npm start');
    // `exec` lets the signal reach npm, which passes it on to the server.
    const example = start(
      checkout,
      ['sh', '-c', `${command.replace('npm start', 'exec npm start')} -- --port=0`],
      environment,
    );
    const [, exampleUrl] = await example.until(/endpoints? at (http:\S+)/);
    expect(await (await fetch(`${exampleUrl!}/api/suggest-titles?prefix=m`)).json()).toEqual([
      'Middlemarch',
      'Moby-Dick',
    ]);
    // npm passes it on to its shell only, which then ends; SIGINT would not end the shell.
    example.child.kill('SIGTERM');
    await example.ended;

    const database = await freshDatabase(`
    create function answer() returns int language sql as 'select 42';
    comment on function answer() is 'HTTP GET';
  `);
    onTestFinished(() => database.drop());
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const [own] = /^npm start -- \\\n {2}--connectionString=\S+$/m.exec(readme)!;
    const words = own.replace('npm start', 'exec npm start').replace(/postgres:\S+/, `'${database.connectionString}'`);
    const ofDatabase = start(checkout, ['sh', '-c', `${words} --port=0`], environment);
    const [, ownUrl] = await ofDatabase.until(/1 endpoint at (http:\S+)/);
    expect(await (await fetch(`${ownUrl!}/api/answer`)).text()).toBe('42');
    ofDatabase.child.kill('SIGTERM');
    await ofDatabase.ended;

    const tests = await lineOf('README.md', 'npm ci && npm test');
    // One file that needs the PostgreSQL from npm.
    const file = 'packages/core/test/behaviour/limits.test.ts';
    expect(await run(checkout, `${tests.replace('npm ci && ', '')} -- ${file}`)).toMatch(/Test Files\s+1 passed/);

    // The packages install into a project, and their programs run.
    await lineOf('docs/guide/server.md', 'npm ci');
    await run(checkout, await lineOf('docs/guide/server.md', 'npm run build:packages'));
    const project = await folderWith({ 'package.json': { private: true, type: 'module' } });

    const install = await lineOf('docs/guide/server.md', 'npm install ~/pgway/dist/packages/*.tgz');
    await run(project, install.replace('~/pgway', checkout));

    // The tests connect as a superuser, hence the warning.
    expect(await run(project, `npx pgway validate --connectionString='${database.connectionString}'`)).toMatch(
      /^warning: [^\n]*superuser[^\n]*\n1 endpoint, 0 errors, 1 warning\n$/,
    );
    expect(await run(project, `npx pgscout --list answer -c '${database.connectionString}'`)).toBe(
      'FUNCTION public.answer()\n',
    );
    expect(
      await run(project, `node -e "import('@pgway/core').then((core) => console.log(typeof core.createGateway))"`),
    ).toBe('function\n');

    // A project of one's own, in the order of the tutorial: the answers without a terminal are the defaults.
    const tutorial = 'docs/guide/getting-started.md';
    for (const line of ['npx pgway init', 'npm install', 'npm run build'])
      await run(project, await lineOf(tutorial, line));
    const server = start(project, ['sh', '-c', `exec ${await lineOf(tutorial, 'npm start')} -- --port=0`], environment);
    const [, url] = await server.until(/endpoints? at (http:\S+)/);
    expect(await (await fetch(`${url!}/api/hello?name=Ada`)).text()).toBe('Hello, Ada!');
    expect(await (await fetch(`${url!}/main.js`)).text()).toContain('await hello(');
    // The database is in use: the other commands connect to it.
    expect(await run(project, 'npx pgway generate')).toBe('src/api.ts  unchanged\n');
    expect(await run(project, 'npx pgway validate')).toBe('1 endpoint, 0 errors, 0 warnings\n');
    expect(await run(project, 'npx pgscout --endpoints')).toMatch(/^GET \/api\/hello\n/);
    server.child.kill('SIGTERM');
    await server.ended;

    // The unit of systemd: without the embedded PostgreSQL.
    const page = 'docs/guide/production.md';
    const target = await folderWith();
    await run(checkout, await lineOf(page, 'rm dist/packages/pgway-embedded-*.tgz dist/packages/pgscout-*.tgz'));
    const installServer = await lineOf(
      page,
      'sudo npm install --prefix /opt/pgway --omit=optional ./dist/packages/*.tgz',
    );
    await run(checkout, installServer.replace('sudo ', '').replace('/opt/pgway', target));
    const link = await lineOf(page, 'sudo ln -sf /opt/pgway/node_modules/.bin/pgway /usr/local/bin/pgway');
    await run(
      checkout,
      link.replace('sudo ', '').replace('/opt/pgway', target).replace('/usr/local/bin/pgway', `${target}/pgway`),
    );

    expect(await run(target, './pgway --version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run(target, 'ls node_modules/@pgway')).not.toContain('embedded');
  },
);
