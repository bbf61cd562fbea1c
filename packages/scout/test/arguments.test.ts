import { expect, test } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import { version } from '../src/command/version.ts';
import { scout } from './support/scout.ts';

test.each([['--help'], ['-h'], ['-?']])('%s prints commands and options', async (...argv) => {
  const { code, stdout, stderr } = await scout(argv);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('--list, -l, -ls [word …]');
  expect(stdout).toContain('--connection <connection>, -c');
});

test('--version prints the version', async () => {
  expect(await scout(['--version'])).toEqual({ code: 0, stdout: `${version()}\n`, stderr: '' });
});

test.each<readonly [argv: readonly string[], message: string]>([
  [[], 'no command; pgscout --help lists them'],
  [['film'], 'no command; pgscout --help lists them'],
  [['lst', 'film'], 'no command; did you mean --list?'],
  [['list'], 'no command; did you mean --list?'],
  [['--help', 'dif'], '--help: no command "dif"; did you mean diff?'],
  [['--lst'], 'unknown switch "--lst"; did you mean --list?'],
  [['--list', '-x'], 'unknown switch "-x"'],
  [['--list', '--info'], '--info and --list: pass only one command'],
  [['--list', '-c'], '--connection: needs a value, as in --connection=<connection>'],
  [['--list', '--json=no'], '--json: takes no value'],
  [['--info', 'film'], 'unexpected argument "film": --info takes none'],
  [['--\u001b[31m'], 'unknown switch "--\\u001b[31m"'],
])('%j is a wrong command line', async (argv, message) => {
  expect(await scout(argv)).toEqual({ code: 2, stdout: '', stderr: `pgscout: ${message}\n` });
});

test.each(commands.filter(({ name }) => name !== 'help').map(({ name }) => [name]))(
  '--help %s has its own options, in lines of 80 columns',
  async (name) => {
    const { code, stdout, stderr } = await scout(['--help', name]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: pgscout --${name}`);
    expect(stdout.includes('--regex')).toBe(name === 'search');
    expect(stdout.includes('--port')).toBe(stdout.includes('--connection'));
    expect(await scout([`--${name}`, '--help'])).toEqual({ code, stdout, stderr });
    const all = `${stdout}${(await scout(['--help'])).stdout}`;
    expect(all.split('\n').filter((line) => line.length > 80)).toEqual([]);
  },
);
