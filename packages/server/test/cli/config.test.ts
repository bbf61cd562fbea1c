import { expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { settings } from '../../src/config/settings.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function config(
  files: Readonly<Record<string, unknown>>,
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  const streams = createTestProcess(await folderWith(files));
  const code = await run(['config', ...words], environment, streams);
  return { code, ...streams.text };
}

const files = {
  'pgway.json': `{
  // The database.
  "connectionString": "postgres://api:\${DB_PASSWORD}@h/d",
  "gateway": {
    "poolSize": 20,
    "loggerName": "a\\u001b\\u009b31m",
    "connectionStrings": { "reports": "postgres://u:geheim@h/r" }
  },
  "jwt": { "jwks": { "url": "https://u:geh@eim@idp.example/keys" } }
}`,
  'pgway.production.json': { log: { format: 'json' }, gateway: { connectionStrings: { other: 'geheim' } } },
  '.env': 'DB_PASSWORD=geheim\nPGWAY_GATEWAY_STRICT=true\n',
};
const environment = { PGWAY_ENVIRONMENT: 'production', PGWAY_LIMITS_MAX_CONNECTIONS: '50' };

test('prints the settings that a source sets, with their places; secrets are masked', async () => {
  const { code, stdout, stderr } = await config(files, ['--port=9000', '--gateway.include-schemas=a,b'], environment);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`\
setting                    value                             origin
connectionString           "***"                             pgway.json:3
port                       9000                              --port
gateway.includeSchemas     ["a","b"]                         --gateway.includeSchemas
gateway.connectionStrings  {"reports":"***","other":"***"}   pgway.json:7, pgway.production.json:1
gateway.poolSize           20                                pgway.json:5
gateway.strict             true                              PGWAY_GATEWAY_STRICT in .env
gateway.loggerName         "a\\u001b\\u009b31m"                pgway.json:6
jwt.jwks.url               "https://u:***@idp.example/keys"  pgway.json:9
log.format                 "json"                            pgway.production.json:1
limits.maxConnections      50                                PGWAY_LIMITS_MAX_CONNECTIONS

Files: pgway.json, pgway.production.json. Environment: production.
`);
});

test('--json is the same for programs', async () => {
  const { code, stdout } = await config(files, ['--json', '--port=9000'], environment);

  expect(code).toBe(0);
  expect(stdout).not.toContain('\u009b');
  expect(JSON.parse(stdout)).toEqual({
    environment: 'production',
    files: ['pgway.json', 'pgway.production.json'],
    settings: {
      connectionString: { value: '***', origin: 'pgway.json:3' },
      port: { value: 9000, origin: '--port' },
      'gateway.poolSize': { value: 20, origin: 'pgway.json:5' },
      'gateway.connectionStrings': {
        value: { reports: '***', other: '***' },
        origin: 'pgway.json:7, pgway.production.json:1',
      },
      'gateway.strict': { value: true, origin: 'PGWAY_GATEWAY_STRICT in .env' },
      'gateway.loggerName': { value: 'a\u001b\u009b31m', origin: 'pgway.json:6' },
      'jwt.jwks.url': { value: 'https://u:***@idp.example/keys', origin: 'pgway.json:9' },
      'log.format': { value: 'json', origin: 'pgway.production.json:1' },
      'limits.maxConnections': { value: 50, origin: 'PGWAY_LIMITS_MAX_CONNECTIONS' },
    },
  });
});

test('--all prints every setting; those of no source are defaults', async () => {
  const { stdout } = await config({}, ['--all', '--json'], { PGHOST: 'h', PGPASSWORD: 'geheim' });
  const printed = (JSON.parse(stdout) as { settings: Record<string, { value: unknown; origin: string }> }).settings;

  expect(Object.keys(printed)).toEqual(settings.map(({ path }) => path));
  expect(printed['connectionString']).toEqual({ value: '***', origin: 'PGHOST, PGPASSWORD' });
  expect(printed['embedded.enabled']).toEqual({ value: false, origin: 'default' });
  const defaults = settings.filter(({ path }) => !['connectionString', 'embedded.enabled'].includes(path));
  for (const { path, defaultValue } of defaults) {
    expect({ path, ...printed[path] }).toEqual({ path, value: defaultValue, origin: 'default' });
  }
});

test('every secret is masked, wherever it comes from', async () => {
  const secrets = settings.filter(({ secret }) => secret);
  const values: Readonly<Record<string, string>> = {
    'jwt.keys': '[{"secret":"geheim"}]',
    'tracing.endpoint': 'https://user:geheim@traces.example/v1/traces',
  };
  const words = secrets.map(({ path, kind }) => {
    return `--${path}=${values[path] ?? (kind === 'map' ? '{"a":"geheim"}' : 'geheim-of-sixteen')}`;
  });
  const provider = { clientId: 'x', clientSecret: 'geheim' };
  const others = [
    '--tenant.by=host',
    '--cookie.enabled',
    '--externalSignIn.loginCommand=select 1',
    `--externalSignIn.providers=${JSON.stringify({ google: provider })}`,
  ];

  for (const form of [[], ['--json']]) {
    const { code, stdout } = await config({}, [...words, ...others, ...form]);
    expect(code).toBe(0);
    for (const { path } of secrets) expect(stdout).toContain(path);
    expect(stdout).not.toContain('geheim');
  }
});

test('without any source, it says so; warnings are on standard error', async () => {
  expect(await config({}, [], { PGWAY_PROT: '1' })).toEqual({
    code: 0,
    stdout:
      'setting  value  origin\nNo source sets a value; --all prints the defaults.\n\nFiles: none. Environment: none.\n',
    stderr: 'pgway: warning: PGWAY_PROT: unknown variable; did you mean PGWAY_PORT?\n',
  });
});

test('an invalid configuration: all errors, and exit code 2', async () => {
  expect(await config({ 'pgway.json': '{\n"port": "x",\n"lgo": {}}' }, ['--all'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'pgway: the configuration has 2 errors:\n  port: must be a whole number from 0 to 65535, not "x" (in pgway.json:2)\n  lgo: unknown option; did you mean log? (in pgway.json:3)\n',
  });
});
