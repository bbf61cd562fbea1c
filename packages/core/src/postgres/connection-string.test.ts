import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type ConnectionSettings, ConnectionStringError, parseConnectionString } from './connection-string.ts';

const directory = mkdtempSync(join(tmpdir(), 'pgway-connection-'));
const certificate = join(directory, 'root.crt');
writeFileSync(certificate, 'a certificate');
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns the parsed settings, or the error message for the author of the text. */
function read(text: string): { readonly settings?: ConnectionSettings; readonly message: string } {
  try {
    return { settings: parseConnectionString(text), message: '' };
  } catch (error) {
    if (error instanceof ConnectionStringError) return { message: error.message };
    throw error;
  }
}

describe('forms', () => {
  const x = { host: 'localhost', port: 5433, database: 'x', user: 'y', password: 'z', ssl: 'disable' };
  test.each([
    ['postgres://y:z@localhost:5433/x', x],
    ['postgresql://y:z@localhost:5433/x', x],
    ['  POSTGRES://y:z@localhost:5433/x\n', x],
    ['postgres:///x?host=localhost&port=5433&user=y&password=z', x],
    ['Host=localhost;Port=5433;Database=x;Username=y;Password=z', x],
    ['Server=localhost;Port=5433;Database=x;User Id=y;Pwd=z;', x],
    [' host = localhost ; port = 5433 ; db = x ; uid = y ; password = z ', x],
    ['host=localhost port=5433 dbname=x user=y password=z', x],
    ["host = localhost  port = '5433'\n dbname=x user=y password='z'", x],
    ['postgres://', { ssl: 'disable' }],
    ['postgres:///x', { database: 'x', ssl: 'disable' }],
    ['postgres://localhost', { host: 'localhost', ssl: 'disable' }],
    ['postgres://localhost/', { host: 'localhost', ssl: 'disable' }],
    ['postgres://y@db.example', { host: 'db.example', user: 'y', ssl: 'prefer' }],
    ['postgres://[::1]:5433/x', { host: '::1', port: 5433, database: 'x', ssl: 'disable' }],
    ['postgres://[2001:db8::1]/x', { host: '2001:db8::1', database: 'x', ssl: 'prefer' }],
    ['postgres://%2Fvar%2Frun%2Fpg/x', { host: '/var/run/pg', database: 'x', ssl: 'disable' }],
    ['postgres:///x?host=/var/run/pg', { host: '/var/run/pg', database: 'x', ssl: 'disable' }],
    ['host=/var/run/pg dbname=x', { host: '/var/run/pg', database: 'x', ssl: 'disable' }],
    ['dbname=x', { database: 'x', ssl: 'disable' }],
    ['Host=localhost', { host: 'localhost', ssl: 'disable' }],
  ])('%s', (text, settings) => {
    expect(parseConnectionString(text)).toEqual(settings);
  });

  test.each([
    ['postgres://y:p#z@localhost:5433/x', 'the connection string is not a valid URL'],
    ['postgres://y:p/z@localhost:5433/x', 'the connection string has an "@" after its host'],
    ['postgres://y:p[/z@localhost:5433/x', 'the connection string has an "@" after its host'],
    ['postgres://y:1/z@localhost:5433/x', 'the connection string has an "@" after its host'],
    ['postgres://y:1?z@localhost:5433/x', 'the connection string has an "@" after its host'],
  ])('%s: a password that ends the user info early is rejected with a hint on escaping', (text, reason) => {
    expect(() => parseConnectionString(text)).toThrow(
      `${reason}; write "@", ":", "/", "?" and "#" in a user name or password as %40, %3A, %2F, %3F and %23`,
    );
  });

  test('an "@" in a password may be encoded or not', () => {
    const settings = { host: 'h', user: 'y', password: 'p@z#', ssl: 'prefer' };
    expect(parseConnectionString('postgres://y:p@z%23@h')).toEqual(settings);
    expect(parseConnectionString('postgres://y:p%40z%23@h')).toEqual(settings);
    expect(() => parseConnectionString('postgres://y:p%z@h')).toThrow('write a literal "%" as %25');
  });

  test('settings in every spelling', () => {
    const settings = {
      host: 'h',
      applicationName: 'an app',
      connectTimeout: 7_000,
      poolSize: 12,
      minPoolSize: 3,
      connectionLifetime: 600_000,
      connectionIdleLifetime: 0,
      timeZone: 'Europe/Warsaw',
      options: '-c work_mem=8MB -c geqo=off',
      ssl: 'prefer',
    };
    expect(
      parseConnectionString(
        'postgres://h?application_name=an%20app&connect_timeout=7&max_pool_size=12&min_pool_size=3&connection_lifetime=600&connection_idle_lifetime=0&timezone=Europe/Warsaw&options=-c%20work_mem%3D8MB%20-c%20geqo%3Doff',
      ),
    ).toEqual(settings);
    expect(
      parseConnectionString(
        'Host=h;Application Name=an app;Timeout=7;Maximum Pool Size=12;Minimum Pool Size=3;Connection Lifetime=600;Connection Idle Lifetime=0;Connection Pruning Interval=1;TimeZone=Europe/Warsaw;Options=-c work_mem=8MB -c geqo=off;Pooling=true;Command Timeout=3;Include Error Detail=true',
      ),
    ).toEqual(settings);
    expect(
      parseConnectionString(
        "host=h application_name='an app' connect_timeout=7 maxpoolsize=12 minpoolsize=3 connectionlifetime=600 connection_idle_lifetime=0 timezone=Europe/Warsaw options='-c work_mem=8MB -c geqo=off' target_session_attrs=any",
      ),
    ).toEqual(settings);
  });

  const two = { host: 'a', port: 5432, furtherServers: [{ host: 'b', port: 5433 }], database: 'x', ssl: 'prefer' };
  test.each([
    ['postgres://a:5432,b:5433/x', two],
    ['postgres:///x?host=a,b&port=5432,5433', two],
    ['host=a,b port=5432,5433 dbname=x', two],
    ['Host=a,b;Port=5432,5433;Database=x', two],
    ['Host=a:5432, b:5433;Database=x', two],
    ['host=a,b port=5433', { host: 'a', port: 5433, furtherServers: [{ host: 'b', port: 5433 }], ssl: 'prefer' }],
    ['postgres://a,b:5433/x', { host: 'a', furtherServers: [{ host: 'b', port: 5433 }], database: 'x', ssl: 'prefer' }],
    [
      'postgres://[::1]:5432,[2001:db8::1]/x',
      { host: '::1', port: 5432, furtherServers: [{ host: '2001:db8::1' }], database: 'x', ssl: 'prefer' },
    ],
    ['host=localhost,127.0.0.1', { host: 'localhost', furtherServers: [{ host: '127.0.0.1' }], ssl: 'disable' }],
    ['host=localhost,b', { host: 'localhost', furtherServers: [{ host: 'b' }], ssl: 'prefer' }],
  ])('several servers: %s', (text, settings) => {
    expect(parseConnectionString(text)).toEqual(settings);
  });

  test.each([
    ['host=a,b target_session_attrs=read-write', 'read-write'],
    ['postgres://a,b/x?target_session_attrs=prefer-standby', 'prefer-standby'],
    ['Host=a,b;Target Session Attributes=PreferStandby', 'prefer-standby'],
    ['Host=a,b;TargetSessionAttributes=primary', 'primary'],
    ['host=a,b target_session_attrs=any', undefined],
  ])('what the server must be: %s', (text, target) => {
    expect(parseConnectionString(text).target).toBe(target);
  });

  test('is frozen', () => {
    expect(Object.isFrozen(parseConnectionString('postgres://h'))).toBe(true);
  });
});

describe('values with special characters', () => {
  const password = (text: string): string | undefined => parseConnectionString(text).password;
  test.each([
    ['postgres://u:a%40b%3A%2F%3F%23%25c@h/x', 'a@b:/?#%c'],
    ['postgres://u:a@b@h/x', 'a@b'],
    ['postgres://u:a:b@h/x', 'a:b'],
    ['postgres://u:a+b@h/x', 'a+b'],
    ['postgres://h/x?password=a+b%20c', 'a+b c'],
    ['postgres://u:@h/x', ''],
    ['Host=h;Password="a;b""c=\'d";Database=x', `a;b"c='d`],
    ["Host=h;Password='a;b''c=\"d';Database=x", `a;b'c="d`],
    ["Password='it''s'; Host=h", "it's"],
    ["Host=h;Password=it''s", "it''s"],
    ['Host=h;Password=a b=c;Database=x', 'a b=c'],
    ['Host=h;Password=;Database=x', ''],
    ["host=h password='a;b' dbname=x", 'a;b'],
    ["host=h password='a b=c\\'d\\\\e' dbname=x", "a b=c'd\\e"],
    ["host=h password=a\\ b\\'c dbname=x", "a b'c"],
    ["host=h password='' dbname=x", ''],
    ["password='a b' host=h", 'a b'],
  ])('%s', (text, expected) => {
    const { host } = parseConnectionString(text);
    expect([password(text), host]).toEqual([expected, 'h']);
  });

  test('values quoted by the rules of their form are parsed back', () => {
    const secret = fc.string({
      unit: fc.constantFrom(...Array.from('ab =;\'"\\@:/?#%&+żó🐢\t')),
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(secret, (text) => {
        const forms = [
          `postgres://u:${encodeURIComponent(text)}@h/x`,
          `postgres://h/x?password=${encodeURIComponent(text)}&user=u`,
          `Password="${text.replaceAll('"', '""')}";Host=h;Username=u;Database=x`,
          `Host=h;Password='${text.replaceAll("'", "''")}';Username=u;Database=x`,
          `password='${text.replace(/[\\']/g, '\\$&')}' host=h user=u dbname=x`,
          `host=h user=u password='${text.replace(/[\\']/g, '\\$&')}' dbname=x`,
        ];
        for (const form of forms) {
          expect({ form, ...parseConnectionString(form) }).toEqual({
            form,
            host: 'h',
            user: 'u',
            database: 'x',
            password: text,
            ssl: 'prefer',
          });
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('errors name the fault and no secret', () => {
  test.each([
    ['', 'the connection string is empty'],
    ['  ', 'the connection string is empty'],
    ['mysql://u:s3cret@h/x', 'must begin with postgres://'],
    ['just words', 'neither a postgres:// URL nor key=value pairs'],
    ['postgres://h:port/x', 'the host or port in the connection string is invalid'],
    ['postgres://h:1,i:2:3/x', 'the host or port in the connection string is invalid'],
    ['postgres://h,,i/x', 'the host in the connection string is invalid'],
    ['host=h,i port=1,2,3', 'gives 3 ports for 2 hosts'],
    ['host=h port=1,2', 'gives 2 ports for 1 host'],
    ['host=h,i port=1,x', 'port in the connection string must be a whole number from 1 to 65535'],
    ['host=h target_session_attrs=master', 'target_session_attrs in the connection string is none of any, read-write'],
    ['postgres://[::1/x', 'the host or port in the connection string is invalid'],
    ['postgres://h:0/x', 'port in the connection string must be a whole number from 1 to 65535'],
    ['postgres://h:65536/x', 'port in the connection string must be a whole number from 1 to 65535'],
    ['host=h connect_timeout=soon', 'connect_timeout in the connection string must be a whole number'],
    ['host=h;Maximum Pool Size=0', 'Maximum Pool Size in the connection string must be a whole number from 1 to 10000'],
    ['postgres://u:s3cret@h/x?hots=1', 'unknown key "hots"'],
    ['Hots=h;Password=s3cret', 'unknown key "Hots"'],
    ['host=h sslmode=maybe', 'sslmode "maybe"'],
    ['host=h sslmode=verify-full sslrootcert=/nowhere/x.crt', 'the file /nowhere/x.crt cannot be read (ENOENT)'],
    ['postgres://u:%zz@h/x', 'two hexadecimal digits'],
    ['host=h constructor=x', 'unknown key "constructor"'],
  ])('%s', (text, message) => {
    expect(read(text).message).toContain(message);
    expect(read(text).message).not.toContain('s3cret');
  });

  test('no error shows the rest of a password after an unescaped character', () => {
    for (const end of [
      '@',
      ':',
      '/',
      '?',
      '#',
      ';',
      '=',
      '&',
      ' ',
      "'",
      '"',
      '%',
      '[',
      ',',
      '; ',
      ' x=',
      ';x=',
      '?x=',
    ]) {
      const broken = `1${end}s3cret`;
      for (const text of [
        `postgres://u:${broken}@h/x`,
        `postgres://u:${broken}@h:1/x?sslmode=require`,
        `Host=h;Password=${broken};Database=x`,
        `Password=${broken};Host=h`,
        `Host=h;Password='${broken};Database=x`,
        `host=h password=${broken} dbname=x`,
        `host=h password='${broken} dbname=x`,
        `password=${broken} host=h`,
      ]) {
        const { settings, message } = read(text);
        const shown = `${message}${settings?.host}${settings?.furtherServers?.map(({ host }) => host).join()}`;
        expect({ text, shown: shown.includes('s3cret') }).toEqual({ text, shown: false });
      }
    }
  });

  test('any text is parsed or throws a ConnectionStringError', () => {
    const piece = fc.constantFrom(
      'postgres://',
      'host=',
      'password=',
      ';',
      ' ',
      "'",
      '"',
      '\\',
      '@',
      ':',
      '[',
      ']',
      '?',
      '&',
      '%',
      'a',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const { settings, message } = read(pieces.join(''));
        expect(settings === undefined).toBe(message !== '');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('ssl modes', () => {
  test.each([
    ['host=db.example', 'prefer'],
    ['host=localhost', 'disable'],
    ['host=127.0.0.1', 'disable'],
    ['host=db.example sslmode=disable', 'disable'],
    ['host=db.example sslmode=allow', 'prefer'],
    ['host=localhost sslmode=prefer', 'prefer'],
    ['host=localhost sslmode=require', { rejectUnauthorized: false }],
    ['host=localhost;SSL Mode=Require', { rejectUnauthorized: false }],
    ['host=localhost sslmode=verify-full', { rejectUnauthorized: true }],
    ['host=localhost;SSL Mode=VerifyFull', { rejectUnauthorized: true }],
    [`host=h sslmode=verify-full sslrootcert='${certificate}'`, { rejectUnauthorized: true, ca: 'a certificate' }],
    [
      `host=h;SSL Mode=Verify-CA;Root Certificate=${certificate}`,
      { rejectUnauthorized: true, ca: 'a certificate', checkServerIdentity: expect.any(Function) },
    ],
    [
      `postgres://h?sslmode=require&sslrootcert=${encodeURIComponent(certificate)}`,
      { rejectUnauthorized: true, ca: 'a certificate', checkServerIdentity: expect.any(Function) },
    ],
  ])('%s', (text, ssl) => {
    expect(parseConnectionString(text).ssl).toEqual(ssl);
  });
});
