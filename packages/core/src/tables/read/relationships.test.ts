import { expect, test } from 'vitest';
import type { Relation } from './relation.ts';
import { createReadModel, type ForeignKey } from './relationships.ts';
import type { ViewColumn } from './view-keys.ts';

const key: ForeignKey = {
  name: 'sale_shop_fkey',
  schema: 'public',
  table: 'sale',
  columns: ['land', 'shop'],
  targetSchema: 'public',
  targetTable: 'shop',
  targetColumns: ['country', 'number'],
  unique: false,
  inPrimaryKey: true,
};

/** Returns views of a table that show each of the columns some times: `land1`, `land2`. */
function viewColumns(table: string, columns: readonly string[], { views, times }: { views: number; times: number }) {
  return Array.from({ length: views }, (_, view) =>
    columns.flatMap((tableColumn) =>
      Array.from({ length: times }, (_, time): ViewColumn => ({
        schema: 'public',
        view: `${table}_${view + 1}`,
        column: `${tableColumn}${time + 1}`,
        tableSchema: 'public',
        table,
        tableColumn,
      })),
    ),
  ).flat();
}

/** Returns the relationships of a relation with another one, as their descriptions. */
function relationshipsBetween(outer: string, target: string, shown: { views: number; times: number }) {
  const columns = [...viewColumns('sale', key.columns, shown), ...viewColumns('shop', key.targetColumns, shown)];
  const names = new Set(['sale', 'shop', ...columns.map(({ view }) => view)]);
  const relations = [...names].map((name): Relation => ({ schema: 'public', name, columns: new Map() }));
  const model = createReadModel(relations, { foreignKeys: [key], viewColumns: columns, representations: new Map() });
  const all = model.relationships.get(JSON.stringify(['public', outer])) ?? [];
  return all.filter((each) => each.target.name === target).map(({ description }) => description);
}

const several = { views: 2, times: 5 };

test('a composite key has two relationships where a view shows its columns several times, however often', () => {
  expect(relationshipsBetween('sale_1', 'shop', several)).toEqual([
    'sale_shop_fkey using sale_1(land1, shop1) and shop(country, number)',
    'sale_shop_fkey using sale_1(land1, shop2) and shop(country, number)',
  ]);
  expect(relationshipsBetween('shop_2', 'sale', several)).toEqual([
    'sale_shop_fkey using shop_2(country1, number1) and sale(land, shop)',
    'sale_shop_fkey using shop_2(country1, number2) and sale(land, shop)',
  ]);
});

test('two views that both show the columns several times have two relationships, in both directions', () => {
  expect(relationshipsBetween('sale_1', 'shop_2', several)).toEqual([
    'sale_shop_fkey using sale_1(land1, shop1) and shop_2(country1, number1)',
    'sale_shop_fkey using sale_1(land1, shop2) and shop_2(country1, number1)',
  ]);
  expect(relationshipsBetween('shop_2', 'sale_1', several)).toHaveLength(2);
});

test('views that show each column once have one', () => {
  expect(relationshipsBetween('sale_1', 'shop_2', { views: 2, times: 1 })).toEqual([
    'sale_shop_fkey using sale_1(land1, shop1) and shop_2(country1, number1)',
  ]);
});
