import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { issuesOf, load } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

const secret = 'c2VjcmV0IG9mIGEgdGVzdA';
const environment = { PGWAY_DATA_PROTECTION_SECRET: secret };

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function pipe(
  input: string,
  words: readonly string[] = [],
  variables: Readonly<Record<string, string>> = environment,
): Promise<Outcome> {
  const process = createTestProcess(await folderWith(), null, input);
  const code = await run(['encrypt', ...words], variables, process);
  return { code, ...process.text };
}

async function encrypt(text: string, words?: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await pipe(text, words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd();
}

describe('pgway encrypt', () => {
  test('encrypts the standard input, another way each time, and decrypts it', async () => {
    const [first, second] = await Promise.all([encrypt('sécret\nof two lines\n'), encrypt('sécret\nof two lines')]);

    expect(first).toMatch(/^encrypted:eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(second).not.toBe(first);
    const decrypted = { code: 0, stdout: 'sécret\nof two lines\n', stderr: '' };
    expect(await pipe(`${first}\n`, ['--decrypt'])).toEqual(decrypted);
    expect(await pipe(`  "${second.replace('encrypted:', '')}"`, ['--decrypt'])).toEqual(decrypted);
  });

  test('hides a value that is typed, and escapes a decrypted one on a terminal', async () => {
    const type = async (line: string, ...words: readonly string[]): Promise<Outcome> => {
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      const process = createTestProcess(await folderWith(), 80, terminal);
      setImmediate(() => terminal.write(`${line}\n`));
      const code = await run(['encrypt', ...words], environment, process);
      return { code, ...process.text };
    };

    const typed = await type('typed secret');
    const escape = await encrypt('a\u001b[2Jb');

    expect({ code: typed.code, stderr: typed.stderr }).toEqual({ code: 0, stderr: 'Value: \n' });
    expect(await type(typed.stdout.trimEnd(), '--decrypt')).toMatchObject({ code: 0, stdout: 'typed secret\n' });
    expect(await type(escape, '--decrypt')).toMatchObject({ stdout: 'a\\u001b[2Jb\n' });
  });

  test('refuses what another secret or application encrypted, and what was changed', async () => {
    const value = await encrypt('x');
    const fails = {
      code: 1,
      stdout: '',
      stderr:
        'pgway: the value cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or dataProtection.application\n',
    };

    expect(await pipe(value, ['--decrypt'], { PGWAY_DATA_PROTECTION_SECRET: `${secret}.` })).toEqual(fails);
    expect(await pipe(value, ['--decrypt', '--dataProtection.application=other'])).toEqual(fails);
    const changed = { PGWAY_DATA_PROTECTION_SECRET: `${secret}.`, PGWAY_DATA_PROTECTION_PREVIOUS_SECRETS: secret };
    expect(await pipe(value, ['--decrypt'], changed)).toEqual({ code: 0, stdout: 'x\n', stderr: '' });
    expect(
      (await load({ files: { 'pgway.json': { cookie: { name: value } } }, environment: changed })).configuration.cookie
        .name,
    ).toBe('x');
    expect(await pipe(`${value.slice(0, -4)}AAAA`, ['--decrypt'])).toEqual(fails);
    expect(await pipe('x', ['--decrypt'])).toEqual(fails);
  });

  test.each([
    [
      'no secret',
      { variables: {} },
      2,
      /^pgway: dataProtection\.secret: missing; set it, such as by PGWAY_DATA_PROTECTION_SECRET/,
    ],
    [
      'a short secret',
      { variables: { PGWAY_DATA_PROTECTION_SECRET: 'short' } },
      2,
      /^pgway: dataProtection\.secret: .* has 5 characters; give/,
    ],
    ['no value', { input: '' }, 1, /^pgway: the value is empty/],
    [
      'a value that is too long',
      { input: 'x'.repeat(70_000) },
      1,
      /^pgway: the standard input has more than 65536 bytes/,
    ],
    [
      'a value as argument',
      { words: ['hunter2'] },
      2,
      /^pgway: encrypt: takes no value as argument, because other users(?!.*hunter2)/,
    ],
    [
      'a flag of another command',
      { words: ['--verify'] },
      2,
      /^pgway: --verify: only valid as in pgway hash --verify\n/,
    ],
  ] as const)('%s is refused', async (_, given, code, message) => {
    const { input, words, variables } = { input: 'x', words: [], variables: environment, ...given };

    const outcome = await pipe(input, words, variables);

    expect(outcome).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) as string });
  });
});

describe('an encrypted value of the configuration', () => {
  test('is decrypted from every source, in texts, lists and maps, and masked', async () => {
    const [origin, header, url] = await Promise.all(
      ['https://a.example', 'h', 'postgres://h/x'].map((text) => encrypt(text)),
    );
    const files = {
      'pgway.json': {
        connectionString: '${URL}',
        cors: { origins: ['https://b.example', origin] },
        gateway: { customRequestHeaders: { 'x-a': header } },
      },
    };

    const { configuration } = await load({ files, environment: { ...environment, URL: url! } });

    expect(configuration).toMatchObject({
      connectionString: 'postgres://h/x',
      cors: { origins: ['https://b.example', 'https://a.example'] },
      gateway: { customRequestHeaders: { 'x-a': 'h' } },
    });
    const process = createTestProcess(await folderWith(files));
    expect(await run(['config'], { ...environment, URL: url }, process)).toBe(0);
    expect(process.text.stdout.split('\n').slice(1, -3)).toEqual([
      'connectionString              "***"          pgway.json:1',
      'gateway.customRequestHeaders  {"x-a":"***"}  pgway.json:1',
      'dataProtection.secret         "***"          PGWAY_DATA_PROTECTION_SECRET',
      'cors.origins                  ["***","***"]  pgway.json:1',
    ]);
  });

  test('that cannot be decrypted is an issue with its place, and no issue shows a decrypted value', async () => {
    const [name, port] = await Promise.all([encrypt('decrypted name'), encrypt('decrypted port')]);
    const missing =
      'is encrypted, and dataProtection.secret is missing; set it, such as by PGWAY_DATA_PROTECTION_SECRET, to the secret of pgway encrypt';

    expect(await issuesOf({ files: { 'pgway.json': { host: name, port } } })).toEqual([
      `host: ${missing} (in pgway.json:1)`,
      `port: ${missing} (in pgway.json:1)`,
    ]);
    expect(
      await issuesOf({
        files: { 'pgway.json': { connectionString: `${name}x`, port } },
        environment: { ...environment, PGWAY_COOKIE_NAME: 'encrypted:' },
      }),
    ).toEqual([
      'connectionString: cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or dataProtection.application (in pgway.json:1)',
      'cookie.name: cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or dataProtection.application (from PGWAY_COOKIE_NAME)',
      'port: must be a number (in pgway.json:1)',
    ]);
    expect(
      await issuesOf({ files: { 'pgway.json': { dataProtection: { secret: name }, connectionString: port } } }),
    ).toEqual([
      'dataProtection.secret: is encrypted, but decrypts the other values; set it as it is, such as by PGWAY_DATA_PROTECTION_SECRET (in pgway.json:1)',
    ]);
  });

  test('that a later source replaces needs no secret', async () => {
    const { configuration } = await load({
      files: { 'pgway.json': { connectionString: 'encrypted:x' } },
      environment: { DATABASE_URL: 'postgres://h/x' },
    });

    expect(configuration.connectionString).toBe('postgres://h/x');
  });
});
