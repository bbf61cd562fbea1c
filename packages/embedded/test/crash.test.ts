import { spawn } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../src/free-port.ts';
import { packageInUse, postmasterPid, temporaryDirectory } from './support/directories.ts';
import { killHard, useChildProgram } from './support/child-program.ts';
import { isRunning, processesOn, untilNone } from '@pgway/testing';
import { ask, start } from './support/start.ts';

// What runs is read from /proc.
describe.runIf(process.platform === 'linux')('whatever dies', () => {
  const startChild = useChildProgram();

  test('the gateway is killed: its server and the watchdog end, the next start finds the data', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    expect(child.told).toHaveProperty('connectionString');
    const { connectionString } = child.told as { connectionString: string };
    await ask(connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);

    await killHard(child.process);

    expect(await untilNone(() => processesOn(dataDirectory))).toEqual([]);
    const server = await start({ dataDirectory });
    expect(await ask(server.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  });

  test('the next start does not have to wait for the watchdog', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    await killHard(child.process);

    const server = await start({ dataDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('gateway and watchdog are killed: the orphan is stopped by the next start', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    const orphan = await postmasterPid(dataDirectory);
    const watchdogs = (await processesOn(dataDirectory)).filter(({ command }) => command.includes('pgway-watchdog'));
    expect(watchdogs).toHaveLength(1);
    for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
    await killHard(child.process);
    expect(isRunning(orphan)).toBe(true);

    const progress: string[] = [];
    const server = await start({ dataDirectory, onProgress: (message) => progress.push(message) });

    expect(progress).toEqual([
      `stopping the PostgreSQL server that an earlier run left behind (process ${String(orphan)})`,
      `starting PostgreSQL ${server.version} on port ${String(server.port)}`,
    ]);
    expect(await processesOn(dataDirectory)).not.toContainEqual(expect.objectContaining({ pid: orphan }));
    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('a program with nothing else to do ends, and the server with it', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });

    child.process.stdin?.end();
    const code = await new Promise((resolve) => child.process.once('exit', resolve));

    expect(code).toBe(0);
    expect(await untilNone(() => processesOn(dataDirectory))).toEqual([]);
  });

  test('the server is killed: stop still ends, and the next start recovers the data', async () => {
    const dataDirectory = await temporaryDirectory();
    const first = await start({ dataDirectory, durable: true });
    await ask(first.connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);
    process.kill(await postmasterPid(dataDirectory), 'SIGKILL');

    await first.stop();

    const second = await start({ dataDirectory, durable: true });
    expect(await ask(second.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  });

  test('the id of a dead server was given to another program: that one is left in peace', async () => {
    const dataDirectory = await temporaryDirectory();
    await (await start({ dataDirectory })).stop();
    const { uid, gid } = await stat(join(dataDirectory, 'cluster'));
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore', uid, gid });
    onTestFinished(() => void bystander.kill());
    await writeFile(join(dataDirectory, 'cluster', 'postmaster.pid'), `${String(bystander.pid)}\n`);

    const server = await start({ dataDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });

  test('the id of a dead gateway was given to another program: the directory is free', async () => {
    const dataDirectory = await temporaryDirectory();
    await (await start({ dataDirectory })).stop();
    // Inside a container every gateway may have the number that this one has.
    await writeFile(join(dataDirectory, 'in-use'), JSON.stringify({ pid: process.pid, birth: 'another boot 12345' }));

    const server = await start({ dataDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test.each([
    {
      spelling: 'the full path',
      directory: (cluster: string) => cluster,
      refusal: (cluster: string, pid: number) =>
        `a PostgreSQL server that pgway did not start runs on ${cluster} (process ${String(pid)}): ` +
        'stop it first, or choose another data directory',
    },
    {
      spelling: 'a relative path',
      directory: () => 'cluster',
      refusal: () => 'PostgreSQL did not start: lock file "postmaster.pid" already exists',
    },
  ])('a server that somebody else runs on the cluster by $spelling is reported, not stopped', async (variant) => {
    const dataDirectory = await temporaryDirectory();
    const cluster = join(dataDirectory, 'cluster');
    await (await start({ dataDirectory })).stop();
    const { uid, gid } = await stat(cluster);
    const settings = ['-c', `port=${String(await findFreePort())}`, '-c', 'unix_socket_directories='];
    const postgres = join(packageInUse, 'native', 'bin', 'postgres');
    const theirs = spawn(postgres, ['-D', variant.directory(cluster), ...settings], {
      uid,
      gid,
      cwd: dataDirectory,
      stdio: 'ignore',
    });
    onTestFinished(() => void theirs.kill('SIGQUIT'));
    await expect.poll(() => postmasterPid(dataDirectory).catch(() => 0)).toBe(theirs.pid);

    await expect(start({ dataDirectory })).rejects.toThrow(variant.refusal(cluster, theirs.pid!));
    expect(theirs.exitCode ?? theirs.signalCode).toBeNull();
    expect(await postmasterPid(dataDirectory)).toBe(theirs.pid);
  });

  test('another living gateway holds the directory: a clear refusal, and its server keeps running', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });

    await expect(start({ dataDirectory })).rejects.toThrow(
      `the data directory ${dataDirectory} is in use by process ${String(child.process.pid)}: ` +
        'stop that one first, or choose another data directory',
    );
    const { connectionString } = child.told as { connectionString: string };
    expect(await ask(connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
