import { spawn, spawnSync } from 'node:child_process';

export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Runs a program and returns its standard output. Throws with its standard error when it fails. */
export async function runProgram(
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
    let errorOutput = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errorOutput += text));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} exited with ${code}: ${errorOutput.trim() || output.trim()}`));
    });
  });
}
