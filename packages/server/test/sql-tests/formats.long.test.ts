/** Output for CI systems, options, and names that would change a terminal or a format. */
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import { runPgwayTest } from './support.ts';

const sql = `create function echo(_text text) returns text language sql stable as 'select _text'; comment on function echo is 'HTTP GET';`;
const hostile = 'a <b> & "c" # SKIP \\ \u001b[31m ]]> -- \u202e';
const files = {
  'a & <b> \u001b[31m.test.sql': `-- test ${hostile}
-- GET /api/echo?text=%1B%5B31m%3C%21--
-- expect body text x
-- test second
-- GET /api/echo?text=1
`,
};

test('no character of a file, a name or a response is a command of the terminal', async () => {
  const { code, stdout } = await runPgwayTest({ sql, files });

  expect(code).toBe(1);
  expect(stdout).toBe(`a & <b> \\u001b[31m.test.sql
  failed a <b> & "c" # SKIP \\ \\u001b[31m ]]> -- \\u202e
           GET /api/echo?text=%1B%5B31m%3C%21--
           a & <b> \\u001b[31m.test.sql:3: the body is another one
             - expected
             + actual
             - x
             + \\u001b[31m<!--
  ok     second
2 tests, 1 failed
`);
});

test('--tap prints TAP 14, whose descriptions have no directives', async () => {
  const { code, stdout } = await runPgwayTest({ sql, files, args: ['--tap', '--coverage'] });

  expect(code).toBe(1);
  expect(stdout).toBe(`TAP version 14
not ok 1 - a & <b> \\\\u001b[31m.test.sql: a <b> & "c" \\# SKIP \\\\ \\\\u001b[31m ]]> -- \\\\u202e
  ---
  at: "a & <b> \\\\u001b[31m.test.sql:3"
  message: |2
    GET /api/echo?text=%1B%5B31m%3C%21--
    a & <b> \\u001b[31m.test.sql:3: the body is another one
      - expected
      + actual
      - x
      + \\u001b[31m<!--
  ...
ok 2 - a & <b> \\\\u001b[31m.test.sql: second
1..2
# coverage: 1 of 1 endpoints, 0 of 0 policies
`);
});

test('--junit prints XML that a parser reads', async () => {
  const { code, stdout } = await runPgwayTest({ sql, files, args: ['--junit', '--coverage'] });

  expect(code).toBe(1);
  const file = 'a & <b> \\u001b[31m.test.sql';
  const counts = { tests: '2', failures: '1', errors: '0', skipped: '0' };
  const place = { classname: file, file };
  expect(readXml(stdout.replaceAll(/ time="\d+\.\d{3}"/g, ''))).toEqual([
    ['testsuites', { name: 'pgway test', ...counts }],
    ['testsuite', { name: file, ...counts }],
    ['testcase', { name: 'a <b> & "c" # SKIP \\ \\u001b[31m ]]> -- \\u202e', ...place, line: '1' }],
    ['failure', { message: 'the body is another one', type: 'failure' }],
    `GET /api/echo?text=%1B%5B31m%3C%21--
${file}:3: the body is another one
  - expected
  + actual
  - x
  + \\u001b[31m<!--`,
    ['testcase', { name: 'second', ...place, line: '4' }],
  ]);
  expect(stdout).toContain('coverage: 1 of 1 endpoints, 0 of 0 policies');
});

test.skipIf(process.platform === 'win32').each([
  [
    [],
    `warning: loop # is a link to a folder that contains the link, and is not followed\na.test.sql\n  ok     first\n1 test, 0 failed\n`,
  ],
  [
    ['--tap'],
    `TAP version 14\n# warning: loop # is a link to a folder that contains the link, and is not followed\nok 1 - a.test.sql: first\n1..1\n`,
  ],
  [
    ['--junit'],
    expect.stringContaining(
      '  <!--\n    warning: loop # is a link to a folder that contains the link, and is not followed\n  -->\n</testsuites>\n',
    ),
  ],
])('a link that is not followed is a warning, and the run does not fail: %j', async (args, expected) => {
  const passing = { 'a.test.sql': '-- test first\nselect true;' };
  const { code, stdout } = await runPgwayTest({ sql, files: passing, links: { 'loop #': '.' }, args });

  expect({ code, stdout }).toEqual({ code: 0, stdout: expected });
});

test.skipIf(process.platform === 'win32')('without a test, the link that is not followed is named', async () => {
  const { code, stdout, stderr } = await runPgwayTest({ sql, files: {}, links: { tests: '/' } });

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^warning: tests is a link to a folder that is outside of .*, and is not followed\nno file has tests; write one/m,
  );
});

/**
 * Returns the elements with their attributes, and the text between them.
 * @throws Error for XML that is not well-formed
 */
function readXml(xml: string): readonly unknown[] {
  const found: unknown[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => void found.push([name, { ...attributes }]));
  parser.on('text', (text) => void (text.trim() === '' || found.push(text)));
  parser.write(xml).close();
  return found;
}

test('a text selects tests by file and by name', async () => {
  const all = {
    'one/a.test.sql': '-- test first\nselect true;\n-- test second\nselect true;',
    'two/b.test.sql': '-- test second\nselect true;',
  };
  const byName = await runPgwayTest({ sql, files: all, args: ['second'] });
  const byFile = await runPgwayTest({ sql, files: all, args: ['one/'] });
  const none = await runPgwayTest({ sql, files: all, args: ['third'] });
  const configured = await runPgwayTest({ sql, files: all, configuration: { testFiles: 'two/**/*.sql' } });

  expect(byName.stdout).toBe('one/a.test.sql\n  ok     second\ntwo/b.test.sql\n  ok     second\n2 tests, 0 failed\n');
  expect(byFile.stdout).toBe('one/a.test.sql\n  ok     first\n  ok     second\n2 tests, 0 failed\n');
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toContain('no test has "third" in its name or in that of its file\n');
  expect(configured.stdout).toBe('two/b.test.sql\n  ok     second\n1 test, 0 failed\n');
});

test.each([
  [{ args: ['--tap', '--junit'] }, '--junit and --tap: pass only one of them'],
  [{ args: ['--json'] }, '--json: only valid as in pgway config --json or pgway endpoints --json'],
  [{ args: ['one', 'two'] }, 'test: takes one filter, not 2'],
  [{ configuration: { testFiles: '../**/*.test.sql' } }, 'testFiles: the pattern "../**/*.test.sql" leads out of its'],
  [{ configuration: { authentication: { production: true } } }, 'pass another configuration, or --yes'],
  [{ configuration: { tenant: { by: 'host' } } }, 'tenant.by: '],
])('%j is refused with exit code 2', async (input, message) => {
  const { code, stdout, stderr } = await runPgwayTest({ sql, files: { 'a.test.sql': 'select true;' }, ...input });

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('a database of production is tested with --yes', async () => {
  const { code } = await runPgwayTest({
    sql,
    files: { 'a.test.sql': '-- GET /api/echo?text=1' },
    configuration: { authentication: { production: true } },
    args: ['--yes'],
  });

  expect(code).toBe(0);
});
