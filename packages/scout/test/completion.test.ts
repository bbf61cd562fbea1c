import { spawnSync } from 'node:child_process';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import { folderWith } from './support/folder.ts';
import { scout } from './support/scout.ts';

const database = useDatabase(`create schema shop; create table shop.film (id int); create table "$(touch x)" ()`);

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

test('names of connections and objects are completed, except those that a shell would interpret', async () => {
  const folder = await folderWith({
    'pgscout.json': { ConnectionStrings: { shop: 'Host=h', 'a b': 'Host=h', '$(x)': 'Host=h' } },
  });
  expect(await scout(['--completion', 'connections'], { folder })).toEqual({ code: 0, stdout: 'shop\n', stderr: '' });
  expect(await scout(['--completion', 'objects', '-c', database.connectionString])).toEqual({
    code: 0,
    stdout: 'public\nshop\nshop.film\n',
    stderr: '',
  });
  const { stdout } = await scout(['--completion', 'bash']);
  const complete = (...words: readonly string[]): string => {
    const stub = 'pgscout() { if [ "$2" = objects ]; then echo shop.film; else echo production; fi; }';
    const script = `${stub}\n${stdout}\nCOMP_WORDS=(pgscout ${words.join(' ')}) COMP_CWORD=2; _pgscout; echo "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', script]).stdout.toString();
  };
  expect([complete('--ddl', 'sh'), complete('-c', 'pro'), complete('--ddl', '--js')]).toEqual([
    'shop.film\n',
    'production\n',
    '--json\n',
  ]);
});
