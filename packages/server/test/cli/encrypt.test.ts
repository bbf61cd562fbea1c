import { describe, expect, test } from 'vitest';
import { encrypt, environment, pipe } from '../support/encrypt.ts';
import { issuesOf, load } from '../support/configuration.ts';

describe('pgway encrypt', () => {
  test('encrypts the standard input, another way each time, and decrypts it', async () => {
    const [first, second] = await Promise.all([encrypt('sécret\nof two lines\n'), encrypt('sécret\nof two lines')]);

    expect(first).toMatch(/^encrypted:eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(second).not.toBe(first);
    const decrypted = { code: 0, stdout: 'sécret\nof two lines\n', stderr: '' };
    expect(await pipe(`${first}\n`, ['--decrypt'])).toEqual(decrypted);
    expect(await pipe(`  "${second.replace('encrypted:', '')}"`, ['--decrypt'])).toEqual(decrypted);
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
        environment: { ...environment, PGWAY_COOKIE_COOKIE_NAME: 'encrypted:' },
      }),
    ).toEqual([
      'connectionString: cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or name (in pgway.json:1)',
      'cookie.cookieName: cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or name (from PGWAY_COOKIE_COOKIE_NAME)',
      'port: must be a whole number from 0 to 65535 (in pgway.json:1)',
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
