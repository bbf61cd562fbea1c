import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { issuesOf, load, loadFrom } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';

const isPosix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;

describe('pgway.<environment>.json', () => {
  const files = {
    'pgway.json': { host: 'a', port: 1, gateway: { poolSize: 1, strict: true } },
    'pgway.production.json': { port: 2, gateway: { poolSize: 2 } },
    'pgway.test.json': { port: 3 },
  };

  test.each([
    [{ PGWAY_ENVIRONMENT: 'production', NODE_ENV: 'test' }, 'production', 2],
    [{ PGWAY_ENVIRONMENT: '', NODE_ENV: 'test' }, 'test', 3],
    [{ NODE_ENV: 'other' }, 'other', 1],
    [{}, null, 1],
  ])('%j', async (environment, name, port) => {
    const loaded = await load({ files, environment });

    expect({ name: loaded.environmentName, port: loaded.configuration.port }).toEqual({ name, port });
  });

  test('is merged over pgway.json key by key', async () => {
    const { configuration, files: read } = await load({ files, environment: { NODE_ENV: 'production' } });

    expect(read).toEqual(['pgway.json', 'pgway.production.json']);
    expect(configuration).toMatchObject({ host: 'a', port: 2, gateway: { poolSize: 2, strict: true } });
  });

  test('is read without pgway.json, and not with named files', async () => {
    const environment = { NODE_ENV: 'production' };
    const { 'pgway.json': _, ...others } = files;

    expect((await load({ files: others, environment })).files).toEqual(['pgway.production.json']);
    expect((await load({ files, environment, arguments: ['pgway.json'] })).files).toEqual(['pgway.json']);
  });

  test('an environment that is no name cannot select a file elsewhere', async () => {
    expect(await issuesOf({ environment: { PGWAY_ENVIRONMENT: '../x' } })).toEqual([
      'PGWAY_ENVIRONMENT: must be a name of letters, digits, dots and hyphens, not "../x"',
    ]);
  });
});

describe('several files', () => {
  test('later ones win; sections and maps are merged key by key, lists are replaced', async () => {
    const { configuration, origins } = await load({
      files: {
        'a.json': { gateway: { includeSchemas: ['a', 'b'], connectionStrings: { x: 'a', y: 'a' }, strict: true } },
        'b.json': { gateway: { includeSchemas: ['c'], connectionStrings: { y: 'b', z: 'b' } } },
      },
      arguments: ['--config', 'a.json', '--config=b.json'],
    });

    expect(configuration.gateway).toMatchObject({
      includeSchemas: ['c'],
      connectionStrings: { x: 'a', y: 'b', z: 'b' },
      strict: true,
    });
    expect(Object.fromEntries(origins)).toEqual({
      'gateway.strict': 'a.json:1',
      'gateway.includeSchemas': 'b.json:1',
      'gateway.connectionStrings': 'a.json:1, b.json:1',
    });
  });

  test('__proto__ in two files is an unknown key like any other', async () => {
    const text = '{"__proto__": {"port": 1}}';

    expect(await issuesOf({ files: { 'a.json': text, 'b.json': text }, arguments: ['a.json', 'b.json'] })).toEqual([
      '__proto__: unknown option; --help lists all options (in b.json:1)',
    ]);
  });

  test('a setting of an earlier version is refused wherever it is set, with what to do instead', async () => {
    expect(
      await issuesOf({
        files: {
          'a.json': {
            health: { enabled: false },
            events: { replayBytes: 1, broadcastChannel: 'shop' },
            jwt: { publicKey: 'x' },
            uploadOptions: { defaultUploadHandlerOptions: { csv: { checkFormat: false } } },
          },
        },
        arguments: ['a.json', '--cors.enabled', '--httpFile.option=both'],
      }),
    ).toEqual([
      '--cors.enabled: unknown option; list the origins in cors.origins, or remove cors to turn it off',
      '--httpFile.option: unknown option; set httpFile.folder to write files, and httpFile.path to serve them',
      'health.enabled: unknown option; remove it, or set health.path to null to turn health checks off (in a.json:1)',
      'events.replayBytes: unknown option; remove it; the server has one value for it (in a.json:1)',
      'events.broadcastChannel: unknown option; set name, which all uses of the name of the gateway share (in a.json:1)',
      'jwt.publicKey: unknown option; list it in jwt.keys, as in [{ "pem": "…" }] (in a.json:1)',
      'uploadOptions.defaultUploadHandlerOptions.csv.checkFormat: unknown option; set check_format in the comments of upload endpoints (in a.json:1)',
    ]);
    expect((await load({ environment: { PGWAY_METRICS_ENABLED: 'true' } })).warnings).toEqual([
      'PGWAY_METRICS_ENABLED: unknown variable; set metrics.path, such as /metrics, to serve metrics, or to null',
    ]);
  });

  test('settings that need one another', async () => {
    const file = { connectionString: 'x', cors: { credentials: true }, staticFiles: { mounts: { '/docs/': 'docs' } } };
    expect(await issuesOf({ files: { 'pgway.json': file } })).toEqual([
      'cors.origins: is empty; cors.credentials has no effect without it',
      'staticFiles.root: missing; staticFiles.mounts needs it',
    ]);
  });

  test('an optional file may be missing, and must be valid', async () => {
    const words = ['a.json', '--optional-config=b.json', '--optional-config', 'c.json'];
    const files = { 'a.json': { port: 1 }, 'c.json': { port: 2 } };

    expect((await load({ files, arguments: words })).configuration.port).toBe(2);
    expect(await issuesOf({ files: { ...files, 'c.json': { port: 'x' } }, arguments: words })).toEqual([
      'port: must be a whole number from 0 to 65535, not "x" (in c.json:1)',
    ]);
  });

  test('a missing file is reported with all other issues, each with its line', async () => {
    const files = { 'a.json': '{\n  "port": "x",\n  "gateway": {\n    "strct": true,\n  },\n}', 'b.json': '{' };

    expect(await issuesOf({ files, arguments: ['a.json', 'b.json', 'c.json', '--host='] })).toEqual([
      'b.json:1:2: "," or "}" expected, found the end of the file',
      'port: must be a whole number from 0 to 65535, not "x" (in a.json:2)',
      'gateway.strct: unknown option; did you mean gateway.strict? (in a.json:4)',
      'host: must be text that is not empty, not "" (from --host)',
      'c.json: no such file; pass an existing file, and options as --name=value',
    ]);
  });

  test.skipIf(!isPosix || isRoot)('a file without read permission', async () => {
    const folder = await folderWith({ 'pgway.json': {}, '.env': '' });
    await chmod(join(folder, 'pgway.json'), 0);
    await chmod(join(folder, '.env'), 0);

    await expect(loadFrom(folder)).rejects.toMatchObject({
      issues: [
        '.env: cannot read the file (EACCES); give the user of this process read permission',
        'pgway.json: cannot read the file (EACCES); give the user of this process read permission',
      ],
    });
  });

  test.skipIf(!isPosix)('a file that every user may change is a warning', async () => {
    const folder = await folderWith({ 'pgway.json': {}, '.env': 'A=1' });
    for (const name of ['pgway.json', '.env']) await chmod(join(folder, name), 0o666);

    expect((await loadFrom(folder)).warnings).toEqual([
      '.env: every user of this machine can change this file, and so the server; run chmod o-w .env',
      'pgway.json: every user of this machine can change this file, and so the server; run chmod o-w pgway.json',
    ]);
  });
});

describe('${NAME:default}', () => {
  test('the default replaces an unset or empty variable, and may have any character but }', async () => {
    const { configuration } = await load({
      files: {
        'pgway.json': {
          connectionString: 'postgres://${A:u}:${B:p:$w{"}@${C:h}/d',
          gateway: { nameSimilarTo: '${D:}', loggerName: '${EMPTY}', includeNames: ['${E:x}', '$E', '${1:x}'] },
        },
      },
      environment: { A: 'me', B: '', EMPTY: '' },
    });

    expect(configuration.connectionString).toBe('postgres://me:p:$w{"@h/d');
    expect(configuration.gateway).toMatchObject({
      nameSimilarTo: '',
      loggerName: '',
      includeNames: ['x', '$E', '${1:x}'],
    });
  });

  test('a value is not replaced again', async () => {
    const files = { 'pgway.json': { gateway: { loggerName: '${A}' } } };

    expect((await load({ files, environment: { A: '${B:b}' } })).configuration.gateway.loggerName).toBe('${B:b}');
  });

  test('a number, a flag, a list, null and a map', async () => {
    const { configuration } = await load({
      files: {
        'pgway.json': {
          port: '${PORT:8081}',
          allowedHosts: '${HOSTS:}',
          gateway: {
            strict: '${STRICT:false}',
            urlPathPrefix: '${PREFIX:null}',
            includeSchemas: '${SCHEMAS:a,b}',
            connectionStrings: '${OTHERS}',
          },
        },
      },
      environment: { STRICT: 'true', OTHERS: '{"x":"y"}' },
    });

    expect(configuration).toMatchObject({
      port: 8081,
      allowedHosts: [],
      gateway: { strict: true, urlPathPrefix: null, includeSchemas: ['a', 'b'], connectionStrings: { x: 'y' } },
    });
  });

  test('all unset variables are reported, once each', async () => {
    const files = { 'pgway.json': '{\n"port": "${PORT}",\n"gateway": {"includeNames": ["a", "${N}"]}}' };

    expect(await issuesOf({ files })).toEqual([
      'port: the variable PORT is not set (in pgway.json:2); set it, or write a default, as in ${PORT:value}',
      'gateway.includeNames[1]: the variable N is not set (in pgway.json:3); set it, or write a default, as in ${N:value}',
    ]);
  });
});

describe('.env', () => {
  test('sets variables; those of the process win', async () => {
    const { configuration, origins, environmentName, files } = await load({
      files: {
        '.env':
          '\uFEFF# of the project\nexport PGWAY_PORT=1\nPGWAY_HOST="::1" # here\nDATABASE_URL=\'postgres://h/d#x\'\nNODE_ENV=test\nMANY="a\nb"\n',
        'pgway.test.json': { gateway: { loggerName: '${MANY}' } },
      },
      environment: { PGWAY_HOST: '127.0.0.2', NODE_ENV: undefined },
    });

    expect(configuration).toMatchObject({
      connectionString: 'postgres://h/d#x',
      host: '127.0.0.2',
      port: 1,
      gateway: { loggerName: 'a\nb' },
    });
    expect({ environmentName, files, origins: Object.fromEntries(origins) }).toEqual({
      environmentName: 'test',
      files: ['pgway.test.json'],
      origins: {
        connectionString: 'DATABASE_URL in .env',
        host: 'PGWAY_HOST',
        port: 'PGWAY_PORT in .env',
        'gateway.loggerName': 'pgway.test.json:1',
      },
    });
  });

  test('libpq variables and misspelled variables in it', async () => {
    const files = { '.env': 'PGDATABASE=d\nPGWAY_PROT=1\nPGWAY_ENVIROMENT=x\nPGWAY_LIMITS_MAX_CONNECTIONS=0' };

    expect(await issuesOf({ files })).toEqual([
      'limits.maxConnections: must be a whole number from 1 to 1000000, not 0 (from PGWAY_LIMITS_MAX_CONNECTIONS in .env)',
    ]);
    const { configuration, warnings, origins } = await load({
      files: { '.env': 'PGDATABASE=d\nPGWAY_PROT=1\nPGWAY_ENVIROMENT=x' },
    });
    expect(configuration.connectionString).toBe('postgres:///?host=localhost&dbname=d');
    expect(origins.get('connectionString')).toBe('PGDATABASE');
    expect(warnings).toEqual([
      'PGWAY_PROT: unknown variable; did you mean PGWAY_PORT?',
      'PGWAY_ENVIROMENT: unknown variable; did you mean PGWAY_ENVIRONMENT?',
    ]);
  });

  test('a folder of this name, as of a Python environment, is ignored', async () => {
    const folder = await folderWith();
    await mkdir(join(folder, '.env'));

    expect((await loadFrom(folder)).warnings).toEqual([]);
  });
});

describe('contradictions are reported at once', () => {
  test('of all sections', async () => {
    const issues = await issuesOf({
      files: {
        'pgway.json': {
          connectionString: 'x',
          port: 8443,
          tls: { redirectPort: 8443 },
          embedded: { enabled: true },
          gateway: { poolSize: 4 },
          crud: { listingLimits: { defaultLimit: 20, maxLimit: 10 } },
          events: { broadcast: 'redis' },
          authentication: { databaseRole: { anonymous: 'a' } },
          jwt: { enabled: true, signWithSecret: true },
          dataProtection: { previousSecrets: ['x'] },
          sessions: { beginCommand: 'x' },
          typescriptClient: { filePath: 'a.ts', bySchema: true },
        },
      },
    });

    expect(issues).toEqual([
      'embedded.enabled: a connection is configured as well; set only one of them',
      'tls.redirectPort: 8443 is also port; set another one, such as 80',
      'crud.listingLimits.defaultLimit: 20 exceeds crud.listingLimits.maxLimit, 10; lower it, or raise maxLimit',
      'events.redisUrl: missing; events.broadcast redis needs it',
      'authentication.databaseRole.anonymous has no effect without a claim; set authentication.databaseRole.claim',
      'jwt: set jwks.url, secret, keys or signingKey',
      'jwt.signWithSecret: set jwt.secret',
      'jwt.issuer: missing; set it, or authentication.production to false for development',
      'jwt.audience: missing; set it, or authentication.production to false for development',
      'dataProtection.secret: missing; dataProtection.previousSecrets only decrypt',
      'sessions: set beginCommand, checkCommand and endCommand together',
      'typescriptClient.filePath: "a.ts" has no {0} for the schema, which bySchema needs; add it, as in "a{0}.ts"',
    ]);
  });

  test.each<readonly [object, boolean]>([
    [{ host: '0.0.0.0' }, true],
    [{ authentication: { production: true } }, true],
    [{}, false],
    [{ host: '0.0.0.0', authentication: { production: false } }, false],
    [{ host: '0.0.0.0', authentication: { trustedProxies: ['loopback'] } }, false],
    [{ host: '0.0.0.0', tls: { certificate: 'a.crt', key: 'a.key' } }, false],
    [{ host: '0.0.0.0', cookie: { enabled: true, secure: 'always' } }, false],
    [{ host: '0.0.0.0', externalSignIn: { publicOrigin: 'https://app.example.org' } }, false],
    [{ host: '0.0.0.0', externalSignIn: { publicOrigin: 'http://localhost' } }, true],
  ])('of cookies whose connections production cannot know: %j', async (settings, isRefused) => {
    const issues = await issuesOf({
      files: { 'pgway.json': { connectionString: 'x', cookie: { enabled: true }, ...settings } },
    }).catch(() => []);

    expect(issues).toEqual(
      isRefused
        ? [
            'cookie.secure: the server cannot know whether browsers use https, and would send session cookies without Secure; enable tls, list the proxy in authentication.trustedProxies, set cookie.secure to "always", or authentication.production to false for development',
          ]
        : [],
    );
  });
});
