import { expect, test } from 'vitest';

import { AuditLog, type WriteOutcome } from '../src/soak/audit/audit-log.ts';

test('lost, repeated and torn writes, and refused ones that the database has, are violations', () => {
  const log = new AuditLog();
  const write = (outcome: WriteOutcome, ...ids: readonly string[]): void => log.begin(ids, 'POST /add')(outcome);
  write('acknowledged', 'a');
  write('acknowledged', 'lost');
  write('acknowledged', 'twice');
  write('refused', 'b');
  write('refused', 'c');
  write('unknown', 'd');
  write('unknown', 'e');
  write('unknown', 'unsure');
  write('unknown', 'torn1', 'torn2');

  log.verify([
    { id: 'a', count: 1 },
    { id: 'twice', count: 2 },
    { id: 'c', count: 1 },
    { id: 'e', count: 1 },
    { id: 'unsure', count: 2 },
    { id: 'torn1', count: 1 },
    { id: 'unsent', count: 1 },
  ]);

  expect(log.totals()).toEqual({ acknowledged: 3, refused: 2, unknown: 4 });
  expect(log.violations.examples('acknowledged')).toEqual([
    'POST /add [lost] has 0 rows',
    'POST /add [twice] has 2 rows',
  ]);
  expect(log.violations.examples('refused')).toEqual(['POST /add [c] has 1 rows']);
  expect(log.violations.examples('unknown')).toEqual([
    'POST /add [unsure] has 2 rows',
    'POST /add [torn1, torn2] has 1, 0 rows',
    'unsent is in the database and was never sent',
  ]);
});
