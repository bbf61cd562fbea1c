import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build, freePort } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { exampleFolder } from './expenses-fixture.ts';

beforeAll(build);

test('the demonstration starts without a database, and the people that it prints can sign in', async () => {
  const port = await freePort();
  const program = spawn(process.execPath, [join(exampleFolder, 'demo.js'), `--port=${port}`]);
  const ended = once(program, 'exit');
  onTestFinished(async () => {
    program.kill();
    await ended;
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    const receive = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (printed.includes('nothing is kept')) resolve();
    };
    program.stdout.on('data', receive);
    program.stderr.on('data', receive);
    program.on('exit', () => reject(new Error(printed)));
  });

  const origin = `http://localhost:${port}`;
  expect(printed).toContain(`open ${origin} and sign in with the password "correct horse battery"`);
  const seen = [];
  for (const email of printed.match(/\S+@\S+/g)!) {
    const body = JSON.stringify({ email, password: 'correct horse battery' });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/sign-in`, { method: 'POST', headers, body });
    const cookie = answer.headers.get('set-cookie')!.split(';', 1)[0]!;
    const rows = (await (await fetch(`${origin}/api/expenses`, { headers: { cookie } })).json()) as unknown[];
    seen.push([email, rows.length]);
  }
  expect(seen).toEqual([
    ['ada@acme.example', 4],
    ['eve@acme.example', 7],
    ['zoe@globex.example', 1],
  ]);
});
