import { PassThrough } from 'node:stream';
import { createPasswordHasher } from '@pgway/core';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess, type TestProcess } from '../support/process-context.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command with a text as standard input. */
async function pipe(input: string, ...words: readonly string[]): Promise<Outcome> {
  const streams = createTestProcess(await folderWith(), null, input);
  const code = await run(['hash', ...words], {}, streams);
  return { code, ...streams.text };
}

/** A terminal on which each line is typed after its prompt. */
async function type(lines: readonly string[], ...words: readonly string[]): Promise<Outcome> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const streams: TestProcess = createTestProcess(await folderWith(), 80, terminal);
  const { stderr } = streams;
  let typed = 0;
  const answering: TestProcess = {
    ...streams,
    stderr: {
      write: (text) => {
        stderr.write(text);
        if (text.endsWith(': ')) setImmediate(() => terminal.write(lines[typed++] ?? '\u0003'));
      },
    },
  };
  const code = await run(['hash', ...words], {}, answering);
  return { code, ...streams.text };
}

describe('standard input', () => {
  test.each(['sécret word', 'sécret word\n', 'sécret word\r\n'])(
    '%j is hashed without its line feed',
    async (input) => {
      const { code, stdout, stderr } = await pipe(input);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^[A-Za-z0-9+/]{64}\n$/);
      expect(await createPasswordHasher().verify('sécret word', stdout.trim())).toBe(true);
    },
  );

  test.each([
    ['', /^pgway: the standard input has no password; pass it as in printf %s "\$PASSWORD" \| pgway hash\n$/],
    ['\n', /^pgway: the standard input has no password/],
    ['one\ntwo\n', /^pgway: the standard input has more than one line/],
    ['x'.repeat(5000), /^pgway: the standard input has more than 4096 bytes\n$/],
  ])('%j is refused', async (input, message) => {
    const { code, stdout, stderr } = await pipe(input);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('--verify compares a password with a hash', async () => {
    const hash = await createPasswordHasher().hash('secret');

    expect(await pipe(`secret\n${hash}\n`, '--verify')).toEqual({
      code: 0,
      stdout: 'the password matches the hash\n',
      stderr: '',
    });
    expect(await pipe(`other\n${hash}`, '--verify')).toEqual({
      code: 1,
      stdout: 'the password does not match the hash\n',
      stderr: '',
    });
    expect(await pipe(hash, '--verify')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'pgway: pgway hash --verify reads two lines from the standard input: the password and the hash\n',
    });
  });
});

describe('a terminal', () => {
  test('asks twice, and does not show the password', async () => {
    const { code, stdout, stderr } = await type(['secret\r', 'secret\r']);

    expect(code).toBe(0);
    expect(stderr).toBe('Password: \nRepeat the password: \n');
    expect(await createPasswordHasher().verify('secret', stdout.trim())).toBe(true);
  });

  test.each([
    [['one\r', 'two\r'], 'Password: \nRepeat the password: \npgway: the two passwords differ; run the command again\n'],
    [['\r'], 'Password: \npgway: the password is empty\n'],
    [['secret\r', '\u0003'], 'Password: \nRepeat the password: pgway: cancelled\n'],
    [['\u0004'], 'Password: pgway: cancelled\n'],
  ])('%j: no hash', async (lines, stderr) => {
    expect(await type(lines)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('--verify asks for password and hash', async () => {
    const hash = await createPasswordHasher().hash('secret');

    const { code, stdout, stderr } = await type(['secret\r', `${hash}\r`], '--verify');

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the password matches the hash\n' });
    expect(stderr).not.toContain('secret');
  });
});

test.each([['geheim'], ['--password=geheim'], ['--config=geheim']])(
  'a password as argument, %s, is refused and not repeated',
  async (word) => {
    const { code, stdout, stderr } = await pipe('', word);

    expect({ code: code > 0, stdout }).toEqual({ code: true, stdout: '' });
    expect(stderr).toMatch(/^pgway: hash: takes no password as argument/);
    expect(stderr).not.toContain('geheim');
  },
);
