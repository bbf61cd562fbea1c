import { expect, test } from 'vitest';
import { type LogLevel, logSources } from '../../src/config/schema/log.ts';
import type { SourceLevels } from '../../src/log/log-level.ts';
import { createLoggers } from '../../src/log/logger.ts';
import { prettyLine } from '../../src/log/pretty-line.ts';

const noLevels = Object.fromEntries(logSources.map((source) => [source, null])) as Record<string, null> as SourceLevels;
const now = (): Date => new Date('2026-01-02T03:04:05.678Z');

function logger(format: 'pretty' | 'json', level: LogLevel = 'info') {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(format === 'pretty' ? prettyLine(line) : line);
  return { lines, log: createLoggers({ targets: [{ level, write }], levels: noLevels, now }).request };
}

test('a pretty line', () => {
  const { lines, log } = logger('pretty');

  log.warn({ status: 500, path: '/api/x', error: new Error('broken') }, 'request failed');

  expect(lines).toEqual(['03:04:05.678 warn  request failed status=500 path=/api/x error=broken\n']);
});

test('a JSON line', () => {
  const { lines, log } = logger('json');

  log.info({ status: 500, nested: { list: [1n, null] } }, 'request failed');

  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: '2026-01-02T03:04:05.678Z',
      level: 'info',
      source: 'request',
      status: 500,
      nested: { list: ['1', null] },
      msg: 'request failed',
    },
  ]);
});

test('lines below the level are not written', () => {
  const { lines, log } = logger('json', 'warn');

  log.debug({}, 'a');
  log.info({}, 'b');
  log.warn({}, 'c');
  log.error({}, 'd');

  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['c', 'd']);
});

test.each(['pretty', 'json'] as const)('%s: no secret is written, by key or in a connection string', (format) => {
  const { lines, log } = logger(format);
  const error = new Error('postgres://u:geheim@h/d', { cause: new Error('Host=h;Password=geheim;Port=1') });

  log.error({ password: 'geheim', headers: { Authorization: 'geheim', Cookie: 'geheim' }, apiToken: ['geheim'] }, 'a');
  log.error({ error, connectionString: 'geheim' }, 'postgresql://u:geheim@h/d and password=geheim');

  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toContain('geheim');
});

test.each(['pretty', 'json'] as const)(
  '%s: nothing in a message or a field can steer a terminal or make a line',
  (format) => {
    const { lines, log } = logger(format);

    log.info({ name: 'a\u001b[31m\u009b2J\nb', key: '\u202e' }, 'message\r\n\u001b]0;title\u0007');

    expect(lines).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex
    expect(lines[0]).toMatch(/^[^\u0000-\u001f\u007f-\u009f]*\n$/);
  },
);

test('an error keeps its code, the SQLSTATE of a database error too, and never its detail', () => {
  const { lines, log } = logger('json');
  const error = Object.assign(new Error('duplicate key'), {
    diagnostics: { code: '23505', detail: 'Key (email)=(a@b.c) already exists.' },
  });

  log.error({ error }, 'request failed');

  const { error: logged } = JSON.parse(lines[0]!) as { error: object };
  expect(logged).toEqual({ type: 'Error', message: 'duplicate key', code: '23505', stack: error.stack });
});

test('several targets have levels of their own; the level of a source replaces them, except silent', () => {
  const lines: string[] = [];
  const target = (name: string, level: LogLevel) => ({
    level,
    write: (line: string) => {
      const { level: written, source, msg } = JSON.parse(line) as Record<string, string>;
      lines.push(`${name} ${source} ${written} ${msg}`);
    },
  });
  const loggers = createLoggers({
    targets: [target('console', 'warn'), target('file', 'debug'), target('nothing', 'silent')],
    levels: { ...noLevels, notice: 'error', auth: 'debug', cache: 'silent' },
    now,
  });

  for (const source of ['start', 'notice', 'auth', 'cache'] as const) {
    loggers[source].debug({}, 'a');
    loggers[source].warn({}, 'b');
    loggers[source].error({}, 'c');
  }

  expect(lines).toEqual([
    'file start debug a',
    'file start warn b',
    'console start warn b',
    'file start error c',
    'console start error c',
    'file notice error c',
    'console notice error c',
    'file auth debug a',
    'console auth debug a',
    'file auth warn b',
    'console auth warn b',
    'file auth error c',
    'console auth error c',
  ]);
});

test('half a character is replaced: PostgreSQL takes none in jsonb', () => {
  const { lines, log } = logger('json');

  log.info({ value: 'a\ud800b' }, '\udc00');

  expect(JSON.parse(lines[0]!)).toMatchObject({ value: 'a\ufffdb', msg: '\ufffd' });
});
