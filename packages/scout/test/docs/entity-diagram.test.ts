import { expect, test } from 'vitest';
import type { Relation } from '../../src/docs/dictionary.ts';
import { entityDiagram } from '../../src/docs/entity-diagram.ts';

/** Tables with some columns, each of which refers to the one before. */
function tables(count: number, columns: number, references: number): readonly Relation[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `table_${index}`;
    const object = {
      kind: 'TABLE',
      key: `pg_class/${index}`,
      schema: 'shop',
      name,
      table: null,
      tableKey: null,
      signature: '',
      qualifiedName: `shop.${name}`,
    } as const;
    return {
      object,
      id: `TABLE shop.${name}`,
      target: '',
      comment: null,
      partitionOf: null,
      partitionBound: null,
      partitionKey: null,
      details: [],
      columns: Array.from({ length: columns }, (__, number) => ({
        id: '',
        target: '',
        comment: null,
        name: `column_${number}`,
        plainName: `column_${number}`,
        type: 'integer',
        isNotNull: true,
        value: null,
      })),
      constraints:
        index < references
          ? [
              {
                name: 'c',
                type: 'f' as const,
                definition: '',
                columns: ['column_0'],
                references: {
                  qualifiedName: 'shop.table_0',
                  schema: 'shop',
                  name: 'table_0',
                },
              },
            ]
          : [],
    };
  });
}

test.each([
  [10, 10, 5, { lines: 1 + 10 * 12 + 5, columns: 100 }],
  // Mermaid draws up to 50,000 characters: only the columns of keys, or none.
  [500, 30, 400, { lines: 1 + 400 * 3 + 100 + 400, columns: 400 }],
  [1500, 30, 500, { lines: 1 + 1500 + 500, columns: 0 }],
])('%i tables with %i columns and %i references', (count, columns, references, expected) => {
  const diagram = entityDiagram(tables(count, columns, references))!;
  expect(diagram.length).toBeLessThanOrEqual(50_000);
  expect({
    lines: diagram.split('\n').length - 1,
    columns: diagram.match(/^ {4}integer column_\d+( FK)?$/gm)?.length ?? 0,
  }).toEqual(expected);
});

test('a diagram that Mermaid does not draw is left out', () => {
  expect(entityDiagram(tables(5000, 1, 0))).toBe(null);
  expect(entityDiagram(tables(600, 1, 501))).toBe(null);
  expect(entityDiagram([])).toBe(null);
});
