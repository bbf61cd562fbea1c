import { spawn } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../src/launch.ts';
import { packageInUse, postmasterPid, temporaryDirectory } from './support/directories.ts';
import { kill, useChildProgram } from './support/child-program.ts';
import { isRunning, processesOn, untilNone } from '@pgway/testing';
import { ask, start } from './support/start.ts';

// Running processes are read from /proc.
describe.runIf(process.platform === 'linux')('after a crash', () => {
  const startChild = useChildProgram();

  test('the parent process is killed: server and watchdog exit, the next start finds the data', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    expect(child.result).toHaveProperty('connectionString');
    const { connectionString } = child.result as { connectionString: string };
    await ask(connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);

    await kill(child.process);

    expect(await untilNone(() => processesOn(dataDirectory))).toEqual([]);
    const server = await start({ dataDirectory });
    expect(await ask(server.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  });

  test('the next start does not have to wait for the watchdog', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    await kill(child.process);

    const server = await start({ dataDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('parent process and watchdog are killed: the next start stops the orphan', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });
    const orphan = await postmasterPid(dataDirectory);
    const watchdogs = (await processesOn(dataDirectory)).filter(({ command }) => command.includes('pgway-watchdog'));
    expect(watchdogs).toHaveLength(1);
    for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
    await kill(child.process);
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

  test('a program with an empty event loop exits, and the server with it', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });

    child.process.stdin?.end();
    const code = await new Promise((resolve) => child.process.once('exit', resolve));

    expect(code).toBe(0);
    expect(await untilNone(() => processesOn(dataDirectory))).toEqual([]);
  });

  test('the server is killed: stop() still resolves, and the next start recovers the data', async () => {
    const dataDirectory = await temporaryDirectory();
    const first = await start({ dataDirectory, durable: true });
    await ask(first.connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);
    process.kill(await postmasterPid(dataDirectory), 'SIGKILL');

    await first.stop();

    const second = await start({ dataDirectory, durable: true });
    expect(await ask(second.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  });

  test('the process id of a dead server was reused: the other program keeps running', async () => {
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

  test('the process id of a dead parent was reused: the data directory is free', async () => {
    const dataDirectory = await temporaryDirectory();
    await (await start({ dataDirectory })).stop();
    // In containers, processes have the same id at every start.
    await writeFile(join(dataDirectory, 'in-use'), JSON.stringify({ pid: process.pid, birth: 'another boot 12345' }));

    const server = await start({ dataDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test.each([
    {
      spelling: 'the full path',
      directory: (cluster: string) => cluster,
      refusal: (cluster: string, pid: number) =>
        `a PostgreSQL server that was started by another program (process ${String(pid)}) uses "${cluster}"; ` +
        'stop it, or choose another data directory',
    },
    {
      spelling: 'a relative path',
      directory: () => 'cluster',
      refusal: () => 'PostgreSQL did not start: lock file "postmaster.pid" already exists',
    },
  ])('a server of another program on the cluster, by $spelling, is reported and not stopped', async (variant) => {
    const dataDirectory = await temporaryDirectory();
    const cluster = join(dataDirectory, 'cluster');
    await (await start({ dataDirectory })).stop();
    const { uid, gid } = await stat(cluster);
    const settings = ['-c', `port=${String(await findFreePort())}`, '-c', 'unix_socket_directories='];
    const postgres = join(packageInUse, 'native', 'bin', 'postgres');
    const other = spawn(postgres, ['-D', variant.directory(cluster), ...settings], {
      uid,
      gid,
      cwd: dataDirectory,
      stdio: 'ignore',
    });
    onTestFinished(() => void other.kill('SIGQUIT'));
    await expect.poll(() => postmasterPid(dataDirectory).catch(() => 0)).toBe(other.pid);

    await expect(start({ dataDirectory })).rejects.toThrow(variant.refusal(cluster, other.pid!));
    expect(other.exitCode ?? other.signalCode).toBeNull();
    expect(await postmasterPid(dataDirectory)).toBe(other.pid);
  });

  test('another process holds the lock: the error names it, and its server keeps running', async () => {
    const dataDirectory = await temporaryDirectory();
    const child = await startChild({ dataDirectory });

    await expect(start({ dataDirectory })).rejects.toThrow(
      `the data directory "${dataDirectory}" is in use by process ${String(child.process.pid)}; ` +
        'stop that process, or choose another data directory',
    );
    const { connectionString } = child.result as { connectionString: string };
    expect(await ask(connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
