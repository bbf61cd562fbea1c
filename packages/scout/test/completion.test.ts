import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import { scout } from './support/scout.ts';

test.each(['bash', 'zsh', 'fish'])('the script for %s has every command', async (shell) => {
  const { code, stdout, stderr } = await scout(['--completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  for (const { name } of commands) expect(stdout).toMatch(new RegExp(`(--| -l )${name}\\b`));
});

test('bash completes a switch', async () => {
  const { stdout } = await scout(['--completion', 'bash']);
  const script = `${stdout}\nCOMP_WORDS=(pgscout --sch) COMP_CWORD=1; _pgscout; echo "\${COMPREPLY[@]}"`;
  expect(spawnSync('bash', ['-c', script]).stdout.toString()).toBe('--schema-dump\n');
});

test('another shell is a wrong command line', async () => {
  expect(await scout(['--completion', 'bsh'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: --completion: must be one of bash, zsh, fish, not "bsh"; did you mean bash?\n',
  });
});
