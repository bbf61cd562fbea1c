import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { PostgresServerOptions } from '../../src/index.ts';
import { selectedPackage } from './directories.ts';

const packagePath = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The line that the program prints. */
type Result =
  | { readonly connectionString: string; readonly version: string; readonly progress: readonly string[] }
  | { readonly error: string; readonly name: string };

export interface Child {
  readonly process: ChildProcess;
  readonly result: Result;
}

const PROGRAM = `
const { startPostgres } = await import(process.argv[1]);
const progress = [];
try {
  const server = await startPostgres({ ...JSON.parse(process.argv[2]), onProgress: (message) => progress.push(message) });
  console.log(JSON.stringify({ connectionString: server.connectionString, version: server.version, progress }));
  process.stdin.on('data', () => server.stop().then(() => process.exit(0)));
} catch (error) {
  console.log(JSON.stringify({ error: error.message, name: error.name }));
  process.exit(1);
}
`;

/**
 * Compiles the package once per test file. The returned function starts a program that starts a server, and waits for its
 * result; the program runs until it is killed or the test ends.
 */
export function useChildProgram(): (
  options: PostgresServerOptions,
  user?: { readonly uid: number; readonly gid: number },
) => Promise<Child> {
  let folder = '';
  beforeAll(async () => {
    // In node_modules of the package: imports of `pg` resolve, and git ignores it.
    await mkdir(packagePath('node_modules'), { recursive: true });
    folder = await mkdtemp(join(packagePath('node_modules'), '.embedded-'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
    const options =
      '--ignoreConfig --noCheck --module nodenext --target es2023 --types node --rewriteRelativeImportExtensions';
    const source = packagePath('src/index.ts');
    await promisify(execFile)(process.execPath, [compiler, ...options.split(' '), '--outDir', folder, source]);
    await promisify(execFile)('chmod', ['-R', 'a+rX', folder]);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return async (options, user) => {
    const entry = join(folder, 'index.js');
    const args = ['--input-type=module', '-e', PROGRAM, entry, JSON.stringify({ ...selectedPackage, ...options })];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/', ...user });
    onTestFinished(() => void child.kill('SIGKILL'));
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) =>
        reject(new Error(`the program ended with ${String(code)} before it printed a line`)),
      );
    });
    return { process: child, result: JSON.parse(line) as Result };
  };
}

/** Sends SIGKILL and waits until the program has exited. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const dead = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await dead;
}
