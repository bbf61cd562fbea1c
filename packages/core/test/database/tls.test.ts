import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@pgway/embedded';
import { createGateway, type Gateway } from '@pgway/core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ask, backendOf, errorOf, open, until } from './support.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('the tests of TLS are skipped: there is no openssl command to make a certificate with');

describe.skipIf(!hasOpenssl)('TLS', () => {
  let directory: string;
  let certificate: string;
  let otherCertificate: string;
  let server: PostgresServer;
  let plain: PostgresServer;

  /** Creates a self-signed certificate for this name. */
  const certify = async (name: string): Promise<string> => {
    const file = join(directory, `${name}.crt`);
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    const files = ['-keyout', join(directory, `${name}.key`), '-out', file];
    execFileSync(
      'openssl',
      [
        'req',
        '-new',
        '-x509',
        '-days',
        '2',
        '-nodes',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        ...subject,
        ...files,
      ],
      {
        stdio: 'ignore',
      },
    );
    return file;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pgway-tls-'));
    await chmod(directory, 0o755);
    certificate = await certify('localhost');
    otherCertificate = await certify('elsewhere.example');
    const dataDirectory = join(directory, 'data');
    plain = await startPostgres({ dataDirectory, durable: false });
    await plain.stop();
    // PostgreSQL requires a key that only its own user can read.
    const { uid, gid } = await stat(join(dataDirectory, 'cluster')).catch(() => stat(dataDirectory));
    const key = join(directory, 'localhost.key');
    await chown(key, uid, gid);
    await chmod(key, 0o600);
    server = await startPostgres({
      dataDirectory,
      durable: false,
      settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
    });
    plain = await startPostgres({ dataDirectory: join(directory, 'plain'), durable: false });
  });
  afterAll(async () => {
    await server?.stop();
    await plain?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const userOf = (one: PostgresServer): string => new URL(one.connectionString).username;
  const at = (one: PostgresServer, host: string): string => one.connectionString.replace('127.0.0.1', host);
  const encrypted = `select ssl::text from pg_stat_ssl where pid = pg_backend_pid()`;

  test.each([
    ['disable', 'false'],
    ['prefer', 'true'],
    ['require', 'true'],
  ])('sslmode=%s', async (mode, expected) => {
    const database = open(at(server, '127.0.0.1'), { parameters: `sslmode=${mode}` });
    expect(await database.query(encrypted)).toEqual([[expected]]);
  });

  test('verify-full: rejected without the certificate, accepted with it, and only for the matching name', async () => {
    const unknown = open(at(server, 'localhost'), { parameters: 'sslmode=verify-full' });
    expect(await errorOf(unknown.query(encrypted))).toBe('ConnectionSetupError');
    const root = `sslrootcert=${encodeURIComponent(certificate)}`;
    const known = open(at(server, 'localhost'), { parameters: `sslmode=verify-full&${root}` });
    expect(await known.query(encrypted)).toEqual([['true']]);
    const byAddress = open(at(server, '127.0.0.1'), { parameters: `sslmode=verify-full&${root}` });
    await expect(byAddress.query(encrypted)).rejects.toThrow(
      /the certificate of the server is not trusted \(Hostname\/IP does not match .*\); set sslrootcert in the connection string/,
    );
  });

  test.each(['verify-ca', 'require'])('%s with a root certificate checks the chain, not the name', async (mode) => {
    const right = `sslmode=${mode}&sslrootcert=${encodeURIComponent(certificate)}`;
    expect(await open(at(server, '127.0.0.1'), { parameters: right }).query(encrypted)).toEqual([['true']]);
    const wrong = `sslmode=${mode}&sslrootcert=${encodeURIComponent(otherCertificate)}`;
    expect(await errorOf(open(at(server, '127.0.0.1'), { parameters: wrong }).query(encrypted))).toBe(
      'ConnectionSetupError',
    );
  });

  test('a server that takes a user with TLS only: the start without TLS says so, and the start with it succeeds', async () => {
    const administrator = open(at(server, '127.0.0.1'));
    const [[file]] = (await administrator.query('show hba_file')) as [[string]];
    const former = await readFile(file, 'utf8');
    await writeFile(
      file,
      `hostssl all careful 127.0.0.1/32 trust\nhost all ${userOf(server)} 127.0.0.1/32 scram-sha-256\n`,
    );
    onTestFinished(async () => {
      await writeFile(file, former);
      await administrator.query('select pg_reload_conf()');
    });
    await administrator.query('create role careful login');
    await administrator.query('select pg_reload_conf()');
    const start = (mode: string): Promise<Gateway> => {
      const url = new URL(at(server, '127.0.0.1'));
      url.username = 'careful';
      return createGateway({ connectionString: `${url.href}?sslmode=${mode}` });
    };
    await expect
      .poll(() => start('disable').catch((error: Error) => error.message))
      .toMatch(
        /^the server refused a connection without TLS: no pg_hba\.conf entry for host "127\.0\.0\.1", user "careful", database "[^"]*", no encryption \(28000\); add sslmode=require to the connection string, or allow the user without TLS in pg_hba\.conf$/,
      );
    await (await start('require')).close();
  });

  test('a server without TLS: prefer falls back, require fails', async () => {
    const preferring = open(plain.connectionString, { parameters: 'sslmode=prefer' });
    expect(await preferring.query(encrypted)).toEqual([['false']]);
    const requiring = open(plain.connectionString, { parameters: 'sslmode=require' });
    await expect(requiring.query(encrypted)).rejects.toThrow('does not support TLS, which sslmode');
  });

  test('cancel while the sink is paused', async () => {
    const root = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`;
    const database = open(at(server, 'localhost'), { parameters: root });
    const backend = await backendOf(database);
    const watcher = open(at(server, 'localhost'), { parameters: root });
    const running = ask(database, ['select pg_sleep(20)']);
    await until('it runs', async () => {
      const found = await watcher.query(`select 1 from pg_stat_activity where pid = $1::int and state = 'active'`, [
        backend,
      ]);
      return found.length > 0;
    });
    running.handle.cancel();
    expect(await errorOf(running)).toBe('CallCancelled');
    let rows = 0;
    let flowing = false;
    const stopped = ask(database, [`select repeat('x', 10000) from generate_series(1, 5000)`], {
      sink: { row: () => ++rows > 0 && flowing },
    });
    await until('rows have come', () => rows > 0);
    const seen = rows;
    expect(await watcher.query('select 1 from pg_sleep(0.1)')).toEqual([['1']]);
    expect(rows).toBe(seen);
    flowing = true;
    stopped.handle.resume();
    expect(await errorOf(stopped)).toBe('done');
    expect(rows).toBe(5_000);
    expect(await backendOf(database)).toBe(backend);
  });

  test('an invalid root certificate', async () => {
    const file = join(directory, 'broken.crt');
    await writeFile(file, 'no certificate');
    const broken = open(at(server, 'localhost'), {
      parameters: `sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`,
    });
    expect(await errorOf(broken.query('select 1'))).toBe('ConnectionSetupError');
  });
});
