import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { functionsSource } from '@pgway/core';
import { type DescribedRelation, type DescribedTable, describedTables } from '@pgway/core/internal';
import { typescriptClientFiles } from '@pgway/generators';
import { databaseTypes, postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { PostgrestClient } from '@supabase/postgrest-js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { at, compile, folderWith, root } from '../../../generators/test/support.ts';
import { createSample, type Sample } from './sample-rows.ts';
import { sampleSchema, sampleSchemas } from './sample-schemas.ts';

/* The types of both clients are those of the rows: each table, with each related table, compiles with the rows of a real response as its value. */

describe.each(sampleSchemas)('%s', (name) => {
  const gateway = useGateway(sampleSchema(name), {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
  });
  let sample: Sample;
  let tables: readonly DescribedTable[];
  beforeAll(async () => {
    sample = await createSample(gateway.database);
    for (const { view } of await gateway.database.query(
      `select oid::regclass::text as view from pg_class where relkind = 'm'`,
    )) {
      await gateway.database.query(`refresh materialized view ${String(view)}`);
    }
    tables = describedTables(gateway.gateway.endpoints);
  });

  test('each foreign key is a relation of both tables', () => {
    const missing = sample.tables.flatMap((table) =>
      table.keys.flatMap(({ name: key, target }) => {
        const other = sample.tables.find(({ sql }) => sql === target)!;
        const leads = (from: typeof table, to: typeof table): boolean =>
          find(tables, from).relations.some(
            (relation) => relation.target.schema === to.schema && relation.target.name === to.name,
          );
        return leads(table, other) && leads(other, table) ? [] : [`${table.sql}: ${key}`];
      }),
    );
    expect(missing).toEqual([]);
    expect(sample.tables.length).toBeGreaterThanOrEqual(12);
  });

  test('the typed client of pgway', async () => {
    const client = (options: object): string =>
      typescriptClientFiles(gateway.gateway.endpoints, { filePath: 'client.ts', headerLines: [], ...options }, at).find(
        ({ path }) => path.startsWith('clientTables.'),
      )!.content;
    const keys = new Map<string, DescribedTable>();
    for (const table of tables) keys.set(keys.has(table.name) ? `${table.schema}.${table.name}` : table.name, table);
    const queries = [...keys].flatMap(([key, { relations }]) => [
      `db[${JSON.stringify(key)}].select()`,
      ...relations.map(
        (relation) => `db[${JSON.stringify(key)}].select({ with: { ${JSON.stringify(relation.name)}: true } })`,
      ),
    ]);
    const rows = await run([
      { path: 'clientTables.js', content: client({ skipTypes: true, customHost: gateway.url }) },
      { path: 'program.js', content: `import { db } from './clientTables.js';\n${printAll(queries)}` },
    ]);
    expect(rows.length).toBe(queries.length);
    const program = queries.map(
      (query, index) =>
        `const query${index} = () => ${query};\nexport const rows${index}: Awaited<ReturnType<typeof query${index}>> = ${JSON.stringify(rows[index])};\n`,
    );
    const files = [
      { path: 'clientTables.ts', content: client({}) },
      { path: 'program.ts', content: `import { db } from './clientTables.ts';\n${program.join('')}` },
    ];
    expect(await compile(files)).toBe('');
  });

  test('the type Database', async () => {
    const all = tables.flatMap((table) => table.relations);
    const inferred = tables.flatMap((table) =>
      table.relations.filter((relation) => isInferred(table, relation, sample)),
    );
    expect(inferred.length).toBeGreaterThan(0.4 * all.length);
    const queries = tables.flatMap((table) => {
      const selectors = table.relations
        .filter((relation) => inferred.includes(relation))
        .map(({ selector }) => selector);
      return ['*', ...selectors.map((selector) => `*, related:${selector}(*)`)].map(
        (select) => [table.schema, table.name, select] as const,
      );
    });
    const client = new PostgrestClient(`${gateway.url}/rest`);
    const program: string[] = [];
    for (const [index, [schema, table, select]] of queries.entries()) {
      // One after the other.
      const { data } = await client.schema(schema).from(table).select(select).throwOnError();
      const query = `client.schema(${JSON.stringify(schema)}).from(${JSON.stringify(table)}).select(${JSON.stringify(select)})`;
      program.push(
        `const query${index} = async () => (await ${query}).data!;`,
        `export const rows${index}: Awaited<ReturnType<typeof query${index}>> = ${JSON.stringify(data)};`,
      );
    }
    const head = `import type { Database } from './database.ts';
import { PostgrestClient } from '${join(root, 'node_modules/@supabase/postgrest-js/dist/index.mjs')}';
const client = new PostgrestClient<Database>('');
`;
    const files = [
      { path: 'database.ts', content: databaseTypes(gateway.gateway.endpoints) },
      { path: 'program.ts', content: `${head}${program.join('\n')}` },
    ];
    expect(await compile(files, '--module esnext --moduleResolution bundler --skipLibCheck')).toBe('');
  });
});

function find(
  tables: readonly DescribedTable[],
  { schema, name }: Pick<DescribedTable, 'schema' | 'name'>,
): DescribedTable {
  return tables.find((table) => table.schema === schema && table.name === name)!;
}

/**
 * Whether `@supabase/postgrest-js` infers the type of related rows: not of other schemas, of the same table, by names with escapes or the name of
 * a column. It takes a row of a view that a key leads to as one that exists.
 */
function isInferred(table: DescribedTable, { target, selector }: DescribedRelation, sample: Sample): boolean {
  const isTable = sample.tables.some(({ schema, name }) => schema === target.schema && name === target.name);
  const isOwn = target.name === table.name || target.schema !== table.schema;
  return isTable && !isOwn && !selector.includes('\\') && !table.columns.some(({ name }) => name === target.name);
}

function printAll(queries: readonly string[]): string {
  return `const rows = [];\n${queries.map((query) => `rows.push(await ${query});\n`).join('')}console.log(JSON.stringify(rows));\n`;
}

async function run(files: readonly { readonly path: string; readonly content: string }[]): Promise<readonly unknown[]> {
  const { folder, remove } = await folderWith([...files, { path: 'package.json', content: '{ "type": "module" }' }]);
  onTestFinished(remove);
  const { stdout } = await promisify(execFile)(process.execPath, ['program.js'], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as readonly unknown[];
}
