import { describe, expect, test } from 'vitest';
import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { ChangeQuery } from '../ports/changes.ts';
import type { ChangedKey } from './key-changes.ts';
import { RowCollector } from './row-collector.ts';
import { KeyList, SelectedKeys, type VisibleRows } from './selected-keys.ts';

const column = (name: string, key = name): ResultColumn =>
  ({
    name,
    key,
    type: { sql: 'text', display: 'text', oid: 25, kind: 'base', json: 'string', builtin: 'text' },
  }) as never;

const query: ChangeQuery = {
  relation: { schema: 'public', name: 'film' },
  keyColumns: ['id'],
  sql: 'select …',
  values: [],
  keys: [column('id')],
  columns: [column('title')],
  altersTransaction: false,
  altersSession: false,
};

const keys: readonly ChangedKey[] = ['a', 'b'].map((id, index) => ({
  key: [id],
  identities: [[id]],
  isNew: false,
  isGone: false,
  first: index,
  last: index,
  commitTime: '2026-01-02T03:04:05.000006Z',
}));

/** Returns DataRow messages of rows with a number, a key and a title. */
function dataRows(rows: readonly (readonly [number: string, id: string, title: string])[]): Buffer {
  return Buffer.concat(
    rows.map((fields) => {
      const body = fields.map((field) => {
        const length = Buffer.alloc(4);
        length.writeInt32BE(Buffer.byteLength(field));
        return Buffer.concat([length, Buffer.from(field)]);
      });
      const header = Buffer.from([0x44, 0, 0, 0, 0, 0, fields.length]);
      header.writeInt32BE(6 + Buffer.concat(body).length, 1);
      return Buffer.concat([header, ...body]);
    }),
  );
}

function collect(list: KeyList, messages: Buffer, of = query): VisibleRows {
  const collector = new RowCollector(of, true, 1_000_000);
  collector.rowMessages(messages);
  return list.rowsOf(of, collector);
}

const asTexts = (rows: VisibleRows): readonly (readonly string[])[] =>
  [...rows].map(([{ key }, { key: id, record }]) => [
    key[0]!,
    Buffer.from(id).toString(),
    Buffer.from(record).toString(),
  ]);

describe('callers of one query', () => {
  test('share the rows of equal responses, also of those that arrive row by row', () => {
    const list = new KeyList(keys);
    const rows = collect(
      list,
      dataRows([
        ['2', 'b', 'Bee'],
        ['1', 'a', 'Ant'],
      ]),
    );
    expect(asTexts(rows)).toEqual([
      ['b', '{"id":"b"}', '{"title":"Bee"}'],
      ['a', '{"id":"a"}', '{"title":"Ant"}'],
    ]);
    const collector = new RowCollector(query, true, 1_000_000);
    for (const message of [dataRows([['2', 'b', 'Bee']]), dataRows([['1', 'a', 'Ant']])]) collector.row(message, 7, 3);

    expect(list.rowsOf(query, collector)).toBe(rows);
  });

  test('have rows of their own when a byte differs, or other names of members', () => {
    const list = new KeyList(keys);
    collect(list, dataRows([['1', 'a', 'Ant']]));
    const renamed = { ...query, columns: [column('title', 'name')] };

    expect(asTexts(collect(list, dataRows([['1', 'a', 'Ape']])))).toEqual([['a', '{"id":"a"}', '{"title":"Ape"}']]);
    expect(asTexts(collect(list, dataRows([['1', 'a', 'Ant']]), renamed))).toEqual([
      ['a', '{"id":"a"}', '{"name":"Ant"}'],
    ]);
  });

  test('share the differences of equal rows, if they want the same events', () => {
    const selected = new SelectedKeys(keys);
    const before = collect(
      selected.before(true),
      dataRows([
        ['1', 'a', 'Ant'],
        ['2', 'b', 'Bee'],
      ]),
    );
    const after = collect(selected.after(), dataRows([['2', 'b', 'Bat']]));
    const options = { operations: ['insert', 'update', 'delete'], withOld: false, withUnchanged: false } as const;
    const changes = selected.differences(before, after, options);

    expect(changes.map(({ operation }) => operation)).toEqual(['delete', 'update']);
    expect(selected.differences(before, after, { ...options })).toBe(changes);
    expect(selected.differences(before, after, { ...options, operations: ['update'] })).toHaveLength(1);
    expect(selected.differences(new Map(), after, options).map(({ operation }) => operation)).toEqual(['insert']);
  });
});

test('keys are looked up in the order of their index, and changes keep theirs', () => {
  const ids = [
    ['10', 'b'],
    ['9', 'b'],
    ['10', 'a'],
    ['2', 'x'],
    ['10', null],
  ] as const;
  const changed = ids.map((key, index): ChangedKey => ({
    ...keys[0]!,
    key,
    first: index,
    last: index,
    commitTime: String(index),
  }));
  const selected = new SelectedKeys(changed);
  for (const list of [selected.before(true), selected.after()])
    expect(list.literals(2)).toEqual(['{"2","9","10","10","10"}', '{"x","b",NULL,"a","b"}']);
  const row = { key: Buffer.from('{}'), record: Buffer.from('{}') };
  const rows: VisibleRows = new Map(selected.after().keys.map((key) => [key, row]));
  const options = { operations: ['insert'], withOld: false, withUnchanged: false } as const;
  const inserted = selected.differences(new Map(), rows, options);
  expect(inserted.map(({ commitTimestamp }) => commitTimestamp)).toEqual(['0', '1', '2', '3', '4']);
});
