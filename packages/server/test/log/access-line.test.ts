import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAccessWriter } from '../../src/log/access-line.ts';
import { type LogLevel, logSources } from '../../src/config/schema/log.ts';
import type { SourceLevels } from '../../src/log/log-level.ts';
import type { RequestEntry } from '../../src/log/request-log.ts';
import { codePoint } from '../../../core/test/support/code-point.ts';

const byDefault = Object.fromEntries(logSources.map((source) => [source, null])) as Record<
  string,
  null
> as SourceLevels;
const endedAt = Date.parse('2026-01-02T03:04:05.678Z');

function lines(entry: RequestEntry, level: LogLevel = 'info', levels: SourceLevels = byDefault): readonly string[] {
  const written: string[] = [];
  createAccessWriter({ targets: [{ level, write: (line) => written.push(line) }], levels })(entry);
  return written;
}

const entry: RequestEntry = {
  endedAt,
  method: 'GET',
  path: '/api/books',
  status: 200,
  isIncomplete: false,
  durationMs: 1.25,
  databaseMs: null,
  rows: null,
  bytes: 0,
  user: null,
  requestId: null,
  address: '127.0.0.1',
  routine: null,
  route: null,
  isEventStream: false,
  tenant: null,
  traceparent: null,
};

test('a line has the known values', () => {
  expect(lines(entry)).toEqual([
    '{"level":"info","time":"2026-01-02T03:04:05.678Z","source":"access","method":"GET","path":"/api/books","status":200,"durationMs":1.25,"bytes":0,"address":"127.0.0.1","msg":"request"}\n',
  ]);
});

test('a line for readers begins with method, path and status, and a worker has its number', () => {
  const written: string[] = [];
  const unused = (): never => expect.unreachable('the line was made as JSON');
  const targets = [{ level: 'info', write: unused, writePretty: (line: string) => written.push(line) }] as const;
  const write = createAccessWriter({ targets, levels: byDefault, worker: 2 });

  write({ ...entry, path: '/a\u009b', databaseMs: 0.5, rows: 3, user: 'ada\n', isIncomplete: true });

  expect(written).toEqual([
    '03:04:05.678 info  GET /a\\u009b 200 worker=2 durationMs=1.25 databaseMs=0.5 rows=3 bytes=0 user=ada\\u000a address=127.0.0.1 incomplete=true\n',
  ]);
});

test('a line is valid JSON without control characters, whatever the client sent', () => {
  const text = fc.string({ unit: codePoint });
  const optional = fc.option(text);
  const size = fc.option(fc.nat());
  const entries = fc.record<RequestEntry>({
    endedAt: fc.constant(endedAt),
    method: text,
    path: text,
    status: fc.nat(),
    isIncomplete: fc.boolean(),
    durationMs: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
    databaseMs: size,
    rows: size,
    bytes: size,
    user: optional,
    requestId: optional,
    address: optional,
    routine: optional,
    route: optional,
    isEventStream: fc.boolean(),
    tenant: optional,
    traceparent: optional,
  });
  fc.assert(
    fc.property(entries, (given) => {
      const [line = ''] = lines(given);

      expect(line.slice(0, -1)).not.toMatch(/\p{Cc}/u);
      const { endedAt: _, isIncomplete, route: __, isEventStream: ___, ...values } = given;
      const known = Object.entries(values).filter(([, value]) => value !== null);
      expect(JSON.parse(line)).toEqual({
        level: 'info',
        time: new Date(endedAt).toISOString(),
        source: 'access',
        ...Object.fromEntries(known),
        ...(isIncomplete ? { incomplete: true } : {}),
        msg: 'request',
      });
    }),
    { numRuns: cases(1000) },
  );
});

test.each<[LogLevel, LogLevel | null, number]>([
  ['debug', null, 1],
  ['info', null, 1],
  ['warn', null, 0],
  ['silent', null, 0],
  ['warn', 'info', 1],
  ['info', 'warn', 0],
  ['info', 'silent', 0],
  ['silent', 'info', 0],
])('a target of level %s, the source of level %s: %i lines', (level, access, count) => {
  expect(lines(entry, level, access === null ? byDefault : { ...byDefault, access })).toHaveLength(count);
});
