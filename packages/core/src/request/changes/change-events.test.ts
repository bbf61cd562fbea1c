import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChangeMessage, RowChange } from '../../ports/changes.ts';
import { toServerSentEvents } from './change-events.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // Nothing is kept for the next test.
  vi.runAllTimers();
  vi.useRealTimers();
});

const film = { schema: 'public', name: 'film' };

type Changes = readonly Omit<RowChange, 'id'>[];

function messageOf(changes: Changes, source: string): ChangeMessage {
  const numbered = changes.map((change, index) => ({
    id: `00000001-000000000000002A.0000000${index + 1}-${source}`,
    ...change,
  }));
  return { kind: 'changes', id: numbered.at(-1)!.id, changes: numbered };
}

const row = (text: string): Uint8Array => Buffer.from(text);
const commitTimestamp = '2026-01-02T03:04:05.000006Z';
const [one, two, three] = [row('{"id":1}'), row('{"id":2}'), row('{"id":3}')];
const both: Changes = [
  { operation: 'insert', commitTimestamp, record: one, old: null },
  { operation: 'delete', commitTimestamp, record: null, old: two },
];

describe('the events of a group with the rows of another group', () => {
  test('have the ids of the group', () => {
    const written = (source: string): string =>
      Buffer.from(toServerSentEvents(messageOf(both, source), film)).toString();
    const expected = (source: string): string => `event: insert
id: 00000001-000000000000002A.00000001-${source}
data: {"type":"insert","schema":"public","table":"film","commitTimestamp":"2026-01-02T03:04:05.000006Z","record":{"id":1}}

event: delete
id: 00000001-000000000000002A.00000002-${source}
data: {"type":"delete","schema":"public","table":"film","commitTimestamp":"2026-01-02T03:04:05.000006Z","old":{"id":2}}

: cut

`;

    for (const source of ['aaaaaaaaaaaaaa', 'bbbbbbbbbbbbbb', 'aaaaaaaaaaaaaa'])
      expect(written(source)).toBe(expected(source));
  });

  test.each<[string, Changes, typeof film]>([
    ['another operation', [{ ...both[0]!, operation: 'update' }, both[1]!], film],
    ['another row', [both[0]!, { ...both[1]!, old: three }], film],
    ['another time', [both[0]!, { ...both[1]!, commitTimestamp: '2026-01-02T03:04:06.000000Z' }], film],
    ['fewer rows', [both[0]!], film],
    ['another table', both, { schema: 'public', name: 'actor' }],
  ])('are written anew for %s', (_, changes, table) => {
    toServerSentEvents(messageOf(both, 'aaaaaaaaaaaaaa'), film);
    const copies = changes.map(({ record, old, ...change }) => ({
      ...change,
      record: record && Buffer.from(record),
      old: old && Buffer.from(old),
    }));

    const events = toServerSentEvents(messageOf(changes, 'bbbbbbbbbbbbbb'), table);
    expect(Buffer.from(events).toString()).toBe(
      Buffer.from(toServerSentEvents(messageOf(copies, 'bbbbbbbbbbbbbb'), table)).toString(),
    );
  });

  test('are kept for a second', () => {
    const changed = Buffer.from('{"id":4}');
    const written = (source: string): string =>
      Buffer.from(
        toServerSentEvents(
          messageOf([{ operation: 'insert', commitTimestamp, record: changed, old: null }], source),
          film,
        ),
      ).toString();
    expect(written('aaaaaaaaaaaaaa')).toContain('{"id":4}');
    // Without the kept bytes, the rows are written from their present content.
    changed.write('{"id":5}');
    vi.advanceTimersByTime(999);
    expect(written('bbbbbbbbbbbbbb')).toContain('{"id":4}');
    vi.advanceTimersByTime(1);
    expect(written('cccccccccccccc')).toContain('{"id":5}');
  });
});
