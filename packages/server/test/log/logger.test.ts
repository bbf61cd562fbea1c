import { expect, test } from 'vitest';
import { createLogger } from '../../src/log/logger.ts';
import type { LoggerOptions } from '../../src/log/logger.ts';

function logger(format: 'pretty' | 'json', level: LoggerOptions['level'] = 'info') {
  const lines: string[] = [];
  const now = (): Date => new Date('2026-01-02T03:04:05.678Z');
  return { lines, log: createLogger({ format, level, now, write: (text) => lines.push(text) }) };
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
