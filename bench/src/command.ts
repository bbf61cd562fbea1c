import { spawn, spawnSync } from 'node:child_process';

export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Runs a program to its end and gives what it printed. Throws with its complaint when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
      env: options.env ?? process.env,
    });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code}: ${complaint.trim() || output.trim()}`));
    });
  });
}
