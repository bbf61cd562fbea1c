import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SchemaEntry } from '../../src/docs/dictionary.ts';
import { documentText } from '../../src/docs/document-text.ts';
import { parseDocument } from '../../src/docs/parse-document.ts';
import { commentText } from '../support/comment-text.ts';

const name = commentText.map((value) => `"${value.replaceAll('"', '""')}"`);

/** A table with a column, with these comments. */
function dictionary(id: string, comment: string, columnComment: string): readonly SchemaEntry[] {
  const object = {
    kind: 'TABLE',
    key: 'pg_class/1',
    schema: 'a',
    name: id,
    table: null,
    tableKey: null,
    signature: '',
    qualifiedName: id,
  } as const;
  const column = { name: id, plainName: id, type: id, isNotNull: true, value: { kind: 'default', text: id } } as const;
  const table = {
    object,
    id: `TABLE ${id}`,
    target: '',
    comment,
    columns: [{ ...column, id: `COLUMN ${id}.b`, target: '', comment: columnComment }],
    constraints: [],
    partitionOf: id,
    partitionBound: id,
    partitionKey: id,
    details: [{ kind: 'index', name: id, definition: id }] as const,
  };
  return [{ name: id, schema: null, relations: [table], types: [], routines: [] }];
}

test('every comment of every object is read as it was written, also with other line endings', () => {
  fc.assert(
    fc.property(name, commentText, commentText, (id, comment, columnComment) => {
      const written = documentText(dictionary(id, comment, columnComment), () => null);
      for (const form of [written, written.replaceAll('\n', '\r\n'), written.trimEnd()]) {
        const { version, comments, errors } = parseDocument(form);
        expect([version, errors]).toEqual([1, []]);
        expect(comments.map((entry) => [entry.id, entry.text])).toEqual([
          [`TABLE ${id}`, comment],
          [`COLUMN ${id}.b`, columnComment],
        ]);
      }
    }),
    { numRuns: cases(3000) },
  );
});

test('a block of code without an end does not take the next comment', () => {
  const text = documentText([...dictionary('a', 'one\n*', 'c'), ...dictionary('b', 'two\n*', 'c')], () => null);
  const { comments, errors } = parseDocument(text.replace('*\n```\n', '*\n'));
  expect(comments.map(({ id }) => id)).toEqual(['COLUMN a.b', 'TABLE b', 'COLUMN b.b']);
  expect(errors).toEqual([{ line: 9, message: expect.stringContaining('the comment of TABLE a has no end') }]);
});

test('any text is parsed', () => {
  fc.assert(
    fc.property(fc.array(commentText, { maxLength: 20 }), (texts) => {
      expect(() => parseDocument(texts.join(''))).not.toThrow();
    }),
    { numRuns: cases(3000) },
  );
});
