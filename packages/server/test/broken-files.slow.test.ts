/** The program while its certificate, its key or its log file cannot be used. */
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { helloSql, startAttacked } from './support/attacked-program.ts';
import { createCertificate } from './support/certificates.ts';
import { folderWith } from './support/folder.ts';

beforeAll(build);

const database = useDatabase(helloSql);

/** Returns the certificate that new connections get. */
async function servedCertificate(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test('certificates that cannot be used are one line each, and the server goes on with the one before', async () => {
  const tls = { certificate: 'server.crt', key: 'server.key' };
  const { port, folder, program, serveOthers } = await startAttacked(database.connectionString, { tls });
  const [certificatePath, keyPath] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  const served = await servedCertificate(port);
  const errors = (): readonly string[] =>
    program.text.stdout.split('\n').filter((line) => line.includes('the renewed TLS certificate cannot be used'));

  await writeFile(keyPath, 'no key');
  await program.until(/server\.key has no PEM private key/);
  // Root can read every file: a key that is gone is as unreadable as one without permission.
  await rm(keyPath);
  await program.until(/cannot read server\.key \(ENOENT\)/);
  const expired = await createCertificate({ validFrom: -3, validTo: -1 });
  await writeFile(certificatePath, expired.certificate);
  await writeFile(keyPath, expired.key);
  await program.until(/the TLS certificate expired on/);
  expect(errors().length).toBe(3);
  expect(await servedCertificate(port)).toBe(served);
  await serveOthers();

  const renewed = await createCertificate();
  await writeFile(certificatePath, renewed.certificate);
  await writeFile(keyPath, renewed.key);
  await program.until(/renewed the TLS certificate/);
  expect(await servedCertificate(port)).not.toBe(served);
  expect(program.text.stderr).toBe('');
});

/** Mounts a file system of 64 KiB until the end of the test. Needs root. */
function mountSmall(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', [folder], { stdio: 'ignore' }));
    return true;
  } catch {
    return false;
  }
}

test('a full disk of the log is one line, and the server goes on', async (context) => {
  const disk = await folderWith();
  if (!mountSmall(disk)) return context.skip();
  const log = { file: { path: join(disk, 'pgway.log') } };
  const { program, serveOthers } = await startAttacked(database.connectionString, { log });
  await writeFile(join(disk, 'ballast'), Buffer.alloc(64 * 1024)).catch(() => undefined);
  await expect
    .poll(async () => {
      await serveOthers();
      return program.text.stderr;
    })
    .toContain('ENOSPC');
  await serveOthers();
  expect(program.text.stderr).toMatch(
    /^pgway: the log file \S+ cannot be written, and lines may be lost: ENOSPC: no space left on device, write\n$/,
  );
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});
