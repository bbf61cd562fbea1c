import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, freePort } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../support/folder.ts';
import { bin, isOpen } from '../support/program.ts';

/** The tour of the guide: its lines are typed into a shell, one after the other. */

beforeAll(build);

const compiler = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url));
const guidePath = fileURLToPath(new URL('../../../../docs/guide/sql-files.md', import.meta.url));

/** Returns a shell in the folder, and a function that types a line and waits for its end. */
async function openShell(folder: string): Promise<{ readonly type: (line: string) => Promise<string> }> {
  const tools = await folderWith({
    npx: `#!/bin/sh\n[ "$1 $2" != '-p typescript' ] || shift 2\ncase "$1" in pgway) program='${bin}' ;; tsc) program='${compiler}' ;; esac\nshift\nexec '${process.execPath}' "$program" "$@"\n`,
  });
  await chmod(join(tools, 'npx'), 0o755);
  const { PATH = '' } = process.env;
  const shell = spawn('bash', [], { cwd: folder, env: { PATH: `${tools}:${PATH}` }, detached: true });
  onTestFinished(async () => {
    shell.stdin.end('kill %1; wait\n');
    await once(shell, 'close');
  });
  let text = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const type = async (line: string): Promise<string> => {
    text = '';
    shell.stdin.write(`${line}\necho "ended with $?"\n`);
    for (;;) {
      const ended = /^([^]*?)ended with (\d+)\n/.exec(text);
      if (ended?.[2] === '0') return ended[1]!;
      if (ended !== null) throw new Error(`${line}\n${text}`);
      await once(shell.stdout, 'data');
    }
  };
  return { type };
}

test('the tour of the guide leads from an empty folder to a typed client', async () => {
  const guide = await readFile(guidePath, 'utf8');
  const port = await freePort();
  const lines = /tour\.slow\.test\.ts[^]*?```sh\n([^]*?)```/
    .exec(guide)![1]!
    .trimEnd()
    .replaceAll('8080', String(port))
    .replace('{ "sqlFiles"', `{ "port": ${port}, "sqlFiles"`)
    .split('\n');
  expect(lines).toHaveLength(10);
  const folder = await folderWith({});
  const { type } = await openShell(folder);
  const answers: string[] = [];
  for (const line of lines) {
    answers.push(await type(line));
    if (line.endsWith('&')) await vi.waitUntil(() => isOpen(port), { timeout: 60_000 });
  }
  const [generated, , response, , compiled, printed] = answers.slice(4);
  expect(generated).toContain('client.ts  written');
  expect(response).toContain('[{"id":');
  expect(compiled).not.toContain('error');
  const rows = JSON.parse(/\[\{"id".*\]/.exec(response!)![0]) as { readonly id: number; readonly title: string }[];
  // The server may log the request between the lines.
  const numbers = printed!.split('\n').filter((line) => /^\d+ \d+$/.test(line));
  expect(numbers).toEqual(rows.map(({ id, title }) => `${id * 10} ${title.length}`));
  // A mistake of types is found.
  await writeFile(join(folder, 'main.ts'), `import { titles } from './client.ts'; titles({ text: 1 });`);
  await expect(type(lines[8]!)).rejects.toThrow(/main\.ts\(1,.*error TS2322/);
}, 120_000);
