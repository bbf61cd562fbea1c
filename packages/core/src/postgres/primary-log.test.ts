import { expect, test } from 'vitest';
import { PrimaryLog } from './primary-log.ts';
import type { PrimaryState } from './replica-checks.ts';
import { formatWalPosition, includes, lastRecordEnd, normalizeLsn, parseWalPosition } from './wal-position.ts';

function state(lsn: string, timeline = '00000001', system = '7'): PrimaryState {
  return { system, database: 'shop', position: { timeline, lsn: normalizeLsn(lsn) } };
}

const position = (lsn: string, timeline = '00000001') => ({ timeline, lsn: normalizeLsn(lsn) });

test('a replica is complete until the time of the newest position that it has replayed', () => {
  const log = new PrimaryLog(10_000);
  expect([log.add(state('0/100'), 1000), log.add(state('0/200'), 1500), log.add(state('1/0'), 2000)]).toEqual([
    true,
    false,
    false,
  ]);
  const times = ['0/FF', '0/100', '0/1FF', '0/200', '0/FFFFFFFF', '1/0', 'A/0'].map((lsn) =>
    log.completeUntil(position(lsn)),
  );
  expect(times).toEqual([-Infinity, 1000, 1000, 1500, 1500, 2000, 2000]);
});

test('an idle primary makes replicas complete until now', () => {
  const log = new PrimaryLog(10_000);
  for (const at of [1000, 1500, 2000]) log.add(state('0/100'), at);
  expect(log.completeUntil(position('0/100'))).toBe(2000);
});

test.each([
  ['timeline', state('0/90', '00000002')],
  ['cluster', state('0/90', '00000001', '8')],
])('positions of another %s say nothing', (_, next) => {
  const log = new PrimaryLog(10_000);
  log.add(state('0/80'), 1000);
  expect(log.add(next, 1500)).toBe(true);
  expect([log.completeUntil(position('0/85')), log.completeUntil(position('0/95'))]).toEqual([-Infinity, 1500]);
});

test('a long span takes bounded memory, and is as precise as its part', () => {
  const log = new PrimaryLog(86_400_000);
  for (let second = 0; second < 100_000; second++) log.add(state(`0/${second.toString(16)}`), second * 1000);
  const lagOf = (second: number): number => second * 1000 - log.completeUntil(position(`0/${second.toString(16)}`));
  expect(lagOf(99_999)).toBe(0);
  // A day in 200 entries.
  for (const second of [99_000, 50_000, 20_000]) expect(lagOf(second)).toBeLessThanOrEqual(86_400_000 / 200 + 1000);
  expect(log.completeUntil(position('0/100'))).toBe(-Infinity);
});

test.each([
  // A segment begins with a longer header.
  ['0/3000028', '0/3000000'],
  ['1/2018', '1/2000'],
  ['1/2000', '1/2000'],
  // The end of a record that began on the page before.
  ['1/2030', '1/2030'],
  ['0/1FF8', '0/1FF8'],
])('the last record before the insert position %s ends at %s', (insert, end) => {
  expect(lastRecordEnd(normalizeLsn(insert), 8192)).toBe(normalizeLsn(end));
});

test('tokens are texts that compare like their positions', () => {
  const token = formatWalPosition(position('16/B374D848'));
  expect(token).toBe('00000001-00000016B374D848');
  expect(parseWalPosition(token)).toEqual(position('16/B374D848'));
  const ordered = [position('0/FFFFFFFF'), position('1/0'), position('A/0'), position('10/0')].map(formatWalPosition);
  expect(ordered.toSorted()).toEqual(ordered);
});

test.each([
  ['0/200', '00000001', true],
  ['0/1FF', '00000001', false],
  ['0/300', '00000002', true],
  // A replica may follow a new timeline, and not have replayed all of the old one yet.
  ['0/1FF', '00000002', false],
  // After a failover, a copy on the old timeline lacks what was written on the new one.
  ['F/0', '00000000', false],
])('a copy at %s of timeline %s includes 0/200 of timeline 1: %s', (lsn, timeline, expected) => {
  expect(includes(position(lsn, timeline), position('0/200'))).toBe(expected);
});
