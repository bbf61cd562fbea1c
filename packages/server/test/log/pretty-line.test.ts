import { expect, test } from 'vitest';
import { prettyLine } from '../../src/log/pretty-line.ts';

test('a line of the access log begins with method, path and status', () => {
  const line = {
    level: 'info',
    time: '2026-01-02T03:04:05.678Z',
    source: 'access',
    method: 'GET',
    path: '/a\u009b',
    status: 200,
  };

  expect(prettyLine(JSON.stringify({ ...line, durationMs: 1.5, msg: 'request' }))).toBe(
    '03:04:05.678 info  GET /a\\u009b 200 durationMs=1.5\n',
  );
});
