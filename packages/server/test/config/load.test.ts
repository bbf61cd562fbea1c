import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load.ts';
import { settings } from '../../src/config/settings.ts';
import { type Given, issuesOf, load } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';

const secrets = settings.filter((setting) => setting.secret);
const secretSections = new Set(secrets.filter(({ path }) => path.includes('.')).map(({ path }) => path.split('.')[0]!));

describe('sources of values', () => {
  test('no source: the defaults and the embedded PostgreSQL', async () => {
    const workingDirectory = await folderWith();
    const places = { workingDirectory, files: [], environment: {}, overrides: [], otherOptions: [], commandNames: [] };

    const { configuration, files, warnings } = await loadConfiguration(places);

    expect({ files, warnings }).toEqual({ files: [], warnings: [] });
    expect(configuration).toMatchObject({ connectionString: null, host: '127.0.0.1', port: 8080 });
    expect(configuration.gateway).toMatchObject({
      commentsMode: 'onlyWithHttpTag',
      urlPathPrefix: '/api',
      bufferRows: 25,
    });
    expect(configuration.embedded).toEqual({ enabled: true, dataDirectory: null, example: true });
  });

  test('precedence: command line, environment, file, defaults', async () => {
    const { configuration } = await load({
      files: { 'pgway.json': { host: 'a', port: 1, gateway: { poolSize: 1, strict: true, bufferRows: 7 } } },
      environment: { PGWAY_PORT: '2', PGWAY_GATEWAY_POOL_SIZE: '2' },
      arguments: ['--port=3'],
    });

    expect(configuration).toMatchObject({ host: 'a', port: 3, gateway: { poolSize: 2, strict: true, bufferRows: 7 } });
  });

  test.each([[['other.json']], [['--config=other.json']], [['--config', 'other.json']]])(
    'another file: %j',
    async (words) => {
      const given = { 'pgway.json': { port: 1 }, 'other.json': { port: 2 } };

      const { configuration, files } = await load({ files: given, arguments: words });

      expect({ files, port: configuration.port }).toEqual({ files: ['other.json'], port: 2 });
    },
  );

  test('all spellings of a key on the command line', async () => {
    const { configuration } = await load({
      arguments: [
        '--connection-string=postgres://a/b',
        '--gateway.comments-mode=parseAll',
        '--gateway.errorFormat=text',
        '--gateway.fieldErrors=422',
        '--gateway.returnGatewayExceptionMessage=withRow',
        '--gateway.strict',
        '--gateway.includeSchemas=a, b',
        '--gateway.excludeNames=["c,d"]',
        '--gateway.urlPathPrefix=null',
        '--gateway.postgreSqlErrorCodeToHttpStatusCodeMapping={"P0001":422,"22":400}',
      ],
    });

    expect(configuration.connectionString).toBe('postgres://a/b');
    expect(configuration.gateway).toMatchObject({
      commentsMode: 'parseAll',
      errorFormat: 'text',
      fieldErrors: 422,
      returnGatewayExceptionMessage: 'withRow',
      strict: true,
      includeSchemas: ['a', 'b'],
      excludeNames: ['c,d'],
      urlPathPrefix: null,
      postgreSqlErrorCodeToHttpStatusCodeMapping: { P0001: 422, '22': 400 },
    });
  });

  test('settings of a section within a section, from three places', async () => {
    const { configuration } = await load({
      files: {
        'pgway.json': { authentication: { databaseRole: { claim: 'file', anonymous: 'file' }, production: true } },
      },
      environment: { PGWAY_AUTHENTICATION_DATABASE_ROLE_CLAIM: 'environment' },
      arguments: ['--authentication.database-role.anonymous=arguments'],
    });

    expect(configuration.authentication).toMatchObject({
      databaseRole: { claim: 'environment', anonymous: 'arguments' },
      production: true,
    });
  });

  test('a map is replaced whole', async () => {
    const { configuration } = await load({
      files: { 'pgway.json': { jwt: { claims: { id: 'sub' } } } },
      environment: { PGWAY_JWT_CLAIMS: '{"name":"upn"}' },
    });

    expect(configuration.jwt.claims).toEqual({ name: 'upn' });
  });

  test('${NAME} in strings of the file is replaced from the environment, in lists too', async () => {
    const { configuration } = await load({
      files: {
        'pgway.json': { connectionString: 'postgres://u:${SECRET}@h/d', gateway: { includeNames: ['${NAME}_x'] } },
      },
      environment: { SECRET: 'p$w', NAME: 'n' },
    });

    expect(configuration.connectionString).toBe('postgres://u:p$w@h/d');
    expect(configuration.gateway.includeNames).toEqual(['n_x']);
  });
});

describe('selection of the database', () => {
  const file = { 'pgway.json': { connectionString: 'file' } };
  const PGHOST = { PGHOST: '/run/a b', PGPORT: '6', PGUSER: 'ü', PGPASSWORD: 'p&=', PGDATABASE: 'd' };

  test.each<[string, Given, string | null]>([
    ['a file', { files: file }, 'file'],
    ['DATABASE_URL over the file', { files: file, environment: { DATABASE_URL: 'url' } }, 'url'],
    [
      'PGWAY_CONNECTION_STRING over DATABASE_URL',
      { environment: { DATABASE_URL: 'url', PGWAY_CONNECTION_STRING: 'own' } },
      'own',
    ],
    [
      'the command line over all',
      { environment: { DATABASE_URL: 'url' }, arguments: ['--connectionString=cli'] },
      'cli',
    ],
    ['a file over PGHOST', { files: file, environment: PGHOST }, 'file'],
    [
      'PGHOST and its kin when nothing else is given',
      { environment: PGHOST },
      'postgres:///?host=%2Frun%2Fa+b&port=6&dbname=d&user=%C3%BC&password=p%26%3D',
    ],
    [
      'PGDATABASE alone means this machine',
      { environment: { PGDATABASE: 'd' } },
      'postgres:///?host=localhost&dbname=d',
    ],
    ['PGUSER alone is no connection', { environment: { PGUSER: 'u' } }, null],
    ['empty variables count as not set', { environment: { DATABASE_URL: '', PGHOST: '' } }, null],
    ['an explicit embedded.enabled over PGHOST', { environment: PGHOST, arguments: ['--embedded.enabled'] }, null],
  ])('%s', async (_, given, connectionString) => {
    const { configuration } = await load(given);

    expect(configuration.connectionString).toBe(connectionString);
    expect(configuration.embedded.enabled).toBe(connectionString === null);
  });

  test('a connection together with the embedded PostgreSQL is rejected', async () => {
    expect(await issuesOf({ files: file, arguments: ['--embedded.enabled=true'] })).toEqual([
      'embedded.enabled: a connection is configured as well; set only one of them',
    ]);
  });

  test('neither a connection nor the embedded PostgreSQL is rejected', async () => {
    expect(await issuesOf({ arguments: ['--embedded.enabled=false'] })).toEqual([
      expect.stringMatching(/^connectionString: missing; set it, as in --connectionString=/),
    ]);
  });
});

describe('all issues are reported at once, with their places', () => {
  test('unknown keys, wrong types, wrong values, from three places', async () => {
    const issues = await issuesOf({
      files: {
        'pgway.json': {
          lmits: {},
          nothingLikeIt: 1,
          bufferRows: 5,
          crud: 3,
          gateway: { comentsMode: 'ignore', commentsMode: 'parseall', includeNames: ['a', 1], bufferRows: 1.5 },
        },
      },
      environment: { PGWAY_GATEWAY_POOL_SIZE: 'many', PGWAY_LIMITS_MAX_CONNECTIONS: '0' },
      arguments: ['--port=70000', '--prot=1', '--host', '--gateway.strict=yes'],
    });

    expect(issues).toEqual([
      '--prot: unknown option; did you mean --port?',
      '--host: needs a value, as in --host=127.0.0.1',
      'lmits: unknown option; did you mean limits? (in pgway.json:1)',
      'nothingLikeIt: unknown option; --help lists all options (in pgway.json:1)',
      'bufferRows: unknown option; did you mean gateway.bufferRows? (in pgway.json:1)',
      'crud: must be an object of options (in pgway.json:1)',
      'gateway.comentsMode: unknown option; did you mean gateway.commentsMode? (in pgway.json:1)',
      'gateway.commentsMode: must be one of "onlyWithHttpTag", "parseAll", "ignore", not "parseall"; did you mean "parseAll"? (in pgway.json:1)',
      'gateway.includeNames[1]: must be text that is not empty, not 1 (in pgway.json:1)',
      'gateway.bufferRows: must be a whole number from 0 to 1000000, not 1.5 (in pgway.json:1)',
      'gateway.poolSize: must be a whole number from 1 to 10000, or null, not "many" (from PGWAY_GATEWAY_POOL_SIZE)',
      'gateway.strict: must be true or false, not "yes" (from --gateway.strict)',
      'limits.maxConnections: must be a whole number from 1 to 1000000, not 0 (from PGWAY_LIMITS_MAX_CONNECTIONS)',
      'port: must be a whole number from 0 to 65535, not 70000 (from --port)',
    ]);
  });

  test.each([
    ['{\n  "port": 1,,\n}', 'pgway.json:2:13: a key in double quotes expected, found ","'],
    ['{"port": 1, "port": 2}', 'pgway.json:1:13: duplicate key "port"'],
    ['[]', 'pgway.json: the configuration must be a JSON object'],
    ['', 'pgway.json:1:1: a value expected, found the end of the file'],
  ])('an invalid file: %j', async (text, issue) => {
    expect(await issuesOf({ files: { 'pgway.json': text } })).toEqual([issue]);
  });

  test('a file that refers to an unset variable', async () => {
    expect(
      await issuesOf({ files: { 'pgway.json': { host: 'x', gateway: { nameSimilarTo: '${NO_SUCH}' } } } }),
    ).toEqual([
      'gateway.nameSimilarTo: the variable NO_SUCH is not set (in pgway.json:1); set it, or write a default, as in ${NO_SUCH:value}',
    ]);
  });

  test('a missing file; a folder', async () => {
    expect(await issuesOf({ arguments: ['missing.json'] })).toEqual([
      'missing.json: no such file; pass an existing file, and options as --name=value',
    ]);
    expect(await issuesOf({ arguments: ['.'] })).toEqual([
      '.: cannot read the file (EISDIR); this is a folder: pass a file in it',
    ]);
  });

  test('suggestions for a missing file', async () => {
    expect(await issuesOf({ arguments: ['--port', '9000'] })).toEqual(['--port: needs a value, as in --port=9000']);
    expect(await issuesOf({ arguments: ['genrate'] })).toEqual([
      'genrate: neither a command nor a file; did you mean generate?',
    ]);
    expect(await issuesOf({ arguments: ['postgres://h/d'] })).toEqual([
      'postgres://h/d: no such file; pass a database as --connectionString=…',
    ]);
    expect(await issuesOf({ arguments: ['a.json', 'generate', '--watch'] })).toEqual([
      'generate: must be the first argument, as in pgway generate',
    ]);
  });

  test('a section instead of a setting', async () => {
    expect(await issuesOf({ arguments: ['--gateway={"poolSize":2}', '--log'] })).toEqual([
      '--gateway: is a section; set its keys one by one, as in --gateway.commentsMode=…',
      '--log: is a section; set its keys one by one, as in --log.level=…',
    ]);
  });

  test('a section within a section', async () => {
    const issues = await issuesOf({
      files: { 'pgway.json': { authentication: { databaseRole: { clam: 'a' } } } },
      environment: { PGWAY_ALLOWED_HOSTS: 'a,https://b' },
      arguments: [
        '--authentication.databaseRole={"claim":"a"}',
        '--authentication.databaseRole.anonymus=a',
        '--authentication.databaseRole.claim=',
        '--tls.enabled=true',
        '--gateway.logFormat=json',
        '--gateway.allowedHosts=a',
      ],
    });

    expect(issues).toEqual([
      '--authentication.databaseRole: is a section; set its keys one by one, as in --authentication.databaseRole.claim=…',
      '--authentication.databaseRole.anonymus: unknown option; did you mean --authentication.databaseRole.anonymous?',
      '--tls.enabled: unknown option; --help lists all of them',
      '--gateway.logFormat: unknown option; --help lists all of them',
      '--gateway.allowedHosts: unknown option; did you mean --allowedHosts?',
      'authentication.databaseRole.clam: unknown option; did you mean authentication.databaseRole.claim? (in pgway.json:1)',
      'authentication.databaseRole.claim: must be text that is not empty, not "" (from --authentication.databaseRole.claim)',
      'allowedHosts[1]: must be a host name without scheme and port, such as api.example.org, not "https://b" (from PGWAY_ALLOWED_HOSTS)',
    ]);
  });

  test('a flag with a value, a flag of another command, a file option without a file', async () => {
    expect(await issuesOf({ arguments: ['--help=1', '--json', '--watch', '--config', '--optional-config='] })).toEqual([
      '--help: takes no value',
      '--config: needs a file, as in --config=pgway.json',
      '--optional-config: needs a file, as in --optional-config=pgway.json',
      '--json: only valid as in pgway config --json or pgway endpoints --json',
    ]);
  });

  test('a connection string is never shown', async () => {
    expect(await issuesOf({ files: { 'pgway.json': { connectionString: ['postgres://u:geheim@h/d'] } } })).toEqual([
      'connectionString: must be text that is not empty, or null (in pgway.json:1)',
    ]);
  });

  test.each<[Readonly<Record<string, unknown>>, string]>([
    [
      { gateway: { connectionStrings: { a: { url: 'geheim' } } } },
      'gateway.connectionStrings.a: must be text that is not empty',
    ],
    [{ gateway: { connectionStrings: ['geheim'] } }, 'gateway.connectionStrings: must be an object'],
    [
      { gateway: { listenConnectionString: ['geheim'] } },
      'gateway.listenConnectionString: must be text that is not empty, or null',
    ],
    [
      { gateway: { customRequestHeaders: { a: { b: 'geheim' } } } },
      'gateway.customRequestHeaders.a: must be text that is not empty or a list',
    ],
    [{ gateway: [{ connectionStrings: { a: 'geheim' } }] }, 'gateway: must be an object of options'],
  ])('a value inside a secret setting is never shown: %j', async (configuration, issue) => {
    expect(await issuesOf({ files: { 'pgway.json': configuration } })).toEqual([`${issue} (in pgway.json:1)`]);
  });

  test('the secret settings', () => {
    expect(secrets.map(({ path }) => path)).toEqual([
      'connectionString',
      'readReplicas.connectionStrings',
      'gateway.connectionStrings',
      'gateway.listenConnectionString',
      'gateway.customRequestHeaders',
      'crud.postgrest.appSettings',
      'tenant.connectionString',
      'tenant.connectionStrings',
      'events.redisUrl',
      'changes.connectionString',
      'redisCache.url',
      'redisRateLimits.url',
      'jwt.keys',
      'jwt.signingKey',
      'jwt.apiKeys',
      'jwt.secret',
      'basic.hash',
      'dataProtection.secret',
      'dataProtection.previousSecrets',
      'log.database.connectionString',
      'tls.passphrase',
      'metrics.token',
      'tracing.endpoint',
      'tracing.headers',
      'typescriptClient.customHeaders',
    ]);
  });

  test.each(secrets)('a secret of the wrong type is never shown: $path', async ({ path }) => {
    const tree = path.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), [['geheim']]);
    const [issue] = await issuesOf({ files: { 'pgway.json': tree } });
    expect(issue).toMatch(
      new RegExp(
        String.raw`^${path}(?:\[0\])?: must be (text that is not empty|an object( of options)?|a bearer token .*|an http or https URL .*|a list)(, or null)? \(in pgway\.json:1\)$`,
      ),
    );
  });

  test.each([...secretSections])('a section of the wrong type with a secret is never shown: %s', async (path) => {
    const issues = await issuesOf({ files: { 'pgway.json': { [path]: ['geheim'] } } });
    expect(issues).toEqual([`${path}: must be an object of options (in pgway.json:1)`]);
  });

  test('a variable that names a section is a warning', async () => {
    const environment = { PGWAY_AUTHENTICATION_DATABASE_ROLE: '{"claim":"role"}' };

    expect((await load({ environment })).warnings).toEqual([
      'PGWAY_AUTHENTICATION_DATABASE_ROLE: is a section; set its keys one by one, as in PGWAY_AUTHENTICATION_DATABASE_ROLE_CLAIM',
    ]);
  });

  test('a misspelled variable is a warning; names that a platform sets are ignored', async () => {
    const environment = { PGWAY_PROT: '1', PGWAY_SERVICE_HOST: '10.0.0.1', PGWAY_TEST_DATABASE: 'x', OTHER_PORT: '1' };

    expect((await load({ environment })).warnings).toEqual(['PGWAY_PROT: unknown variable; did you mean PGWAY_PORT?']);
  });
});
