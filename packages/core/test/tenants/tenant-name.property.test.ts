import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileHostPattern, isTenantName } from '../../src/gateway/tenants/tenant-name.ts';
import { compileConnectionTemplate } from '../../src/gateway/tenants/tenant-directory.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { codePoint } from '../support/code-point.ts';

/** Names of tenants come from clients. */

/** Texts that mean something to a connection string, a URL, a path or a host name, and any others. */
const hostile = fc.oneof(
  fc.string({ unit: codePoint }),
  fc
    .array(
      fc.constantFrom(
        'a',
        '0',
        '-',
        '_',
        '.',
        '/',
        '@',
        ':',
        '?',
        '&',
        '=',
        ';',
        "'",
        '"',
        ' ',
        '\\',
        '%',
        '\0',
        '\n',
        'İ',
        '..',
      ),
      { maxLength: 70 },
    )
    .map((parts) => parts.join('')),
);

const templates = [
  'postgres://app:secret@db.example.com:5432/app_{tenant}?sslmode=disable',
  'postgres://app:secret@db.example.com/{tenant}',
  'Host=db.example.com;Port=5432;Database=app_{tenant};Username=app;Password=secret',
  "host=db.example.com dbname='app_{tenant}' user=app password=secret",
];

describe('the connection of a tenant', () => {
  test('differs from that of another one in the name of the database only', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(...templates), (name, template) => {
        const { database: first, ...one } = compileConnectionTemplate(template)('acme');
        const { database, ...other } = compileConnectionTemplate(template)(name);
        expect([other, database]).toEqual([one, first!.split('acme').join(name)]);
      }),
    );
  });

  test('equals that of the text, for names of tenants', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9](?:[a-z0-9_-]{0,20}[a-z0-9])?$/), (name) => {
        for (const template of templates) {
          expect(compileConnectionTemplate(template)(name)).toEqual(
            parseConnectionString(template.replace('{tenant}', name)),
          );
        }
      }),
    );
  });

  test.each([
    'postgres://{tenant}:secret@localhost/app_{tenant}',
    'postgres://app:{tenant}@localhost/app',
    'postgres://app:secret@{tenant}.example.com/app',
    'postgres://app:secret@localhost/app_{tenant}_{tenant}',
    'postgres://app:secret@localhost/app?options=-c%20search_path={tenant}',
    'postgres://app:secret@localhost/app',
  ])('needs the placeholder in the name of the database: %s', (template) => {
    expect(() => compileConnectionTemplate(template)).toThrow(
      'tenant.connectionString: must have {tenant} once, in the name of the database, such as postgres://user:password@localhost/app_{tenant}',
    );
  });

  test('an error does not quote the password', () => {
    expect(() => compileConnectionTemplate('postgres://app:top-secret@localhost:x/app_{tenant}')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('top-secret') }),
    );
  });
});

describe('the tenant of a host', () => {
  const match = compileHostPattern('{tenant}.example.com');

  test('is a name of a tenant, whatever the client sends', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom('', '.example.com', '.example.com:80', '.example.com.', 'example.com'),
        (name, rest) => {
          const tenant = match(name + rest);
          if (tenant === null) return;
          expect(isTenantName(tenant)).toBe(true);
          expect((name + rest).toLowerCase().replace(/\.?(?::\d+)?$/, '')).toBe(`${tenant}.example.com`);
        },
      ),
    );
  });

  test.each<[string | undefined, string | null]>([
    ['acme.example.com', 'acme'],
    ['ACME.EXAMPLE.COM', 'acme'],
    ['acme.example.com:8080', 'acme'],
    ['acme.example.com.', 'acme'],
    ['a-b_c9.example.com', 'a-b_c9'],
    ['a.b.example.com', null],
    ['.example.com', null],
    ['-acme.example.com', null],
    ['acme.example.com.evil.org', null],
    ['evil.org/acme.example.com', null],
    ['user@acme.example.com', null],
    ['acme.example.com:x', null],
    ['acme.example.com, globex.example.com', null],
    [`${'a'.repeat(64)}.example.com`, null],
    [`${'a'.repeat(63)}.example.com`, 'a'.repeat(63)],
    ['__proto__.example.com', null],
    ['constructor.example.com', 'constructor'],
    ['', null],
    [undefined, null],
  ])('%s: %s', (host, tenant) => {
    expect(match(host)).toBe(tenant);
  });

  test.each([
    'example.com',
    'a.{tenant}.example.com',
    '{tenant}.{tenant}.com',
    'https://{tenant}.example.com',
    '{tenant}.example.com:80',
  ])('the pattern %s', (pattern) => {
    const compile = (): unknown => compileHostPattern(pattern)('acme');
    expect(compile).toThrow('must be a host name with {tenant} in its first label, such as {tenant}.example.com');
  });
});
