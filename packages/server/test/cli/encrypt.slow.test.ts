import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { load } from '../support/configuration.ts';
import { encrypt, environment, type Outcome, pipe, secret } from '../support/encrypt.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

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

test('refuses what another secret or name encrypted, and what was changed', async () => {
  const value = await encrypt('x');
  const fails = {
    code: 1,
    stdout: '',
    stderr:
      'pgway: the value cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or name\n',
  };

  expect(await pipe(value, ['--decrypt'], { PGWAY_DATA_PROTECTION_SECRET: `${secret}.` })).toEqual(fails);
  expect(await pipe(value, ['--decrypt', '--name=other'])).toEqual(fails);
  const changed = { PGWAY_DATA_PROTECTION_SECRET: `${secret}.`, PGWAY_DATA_PROTECTION_PREVIOUS_SECRETS: secret };
  expect(await pipe(value, ['--decrypt'], changed)).toEqual({ code: 0, stdout: 'x\n', stderr: '' });
  expect(
    (await load({ files: { 'pgway.json': { cookie: { cookieName: value } } }, environment: changed })).configuration
      .cookie.cookieName,
  ).toBe('x');
  expect(await pipe(`${value.slice(0, -4)}AAAA`, ['--decrypt'])).toEqual(fails);
  expect(await pipe('x', ['--decrypt'])).toEqual(fails);
});

test('an encrypted value of the configuration is decrypted from every source, in texts, lists and maps, and masked', async () => {
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
