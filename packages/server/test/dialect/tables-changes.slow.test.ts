import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { crudSource } from '@pgway/core';
import { typescriptClientFiles } from '@pgway/generators';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { at, compile, folderWith } from '../../../generators/test/support.ts';

/* Row changes in the typed client of tables: its types, and changes of a database. */

const gateway = useGateway(
  `create table film (id int primary key, title text not null, shown_in int);
   comment on table film is E'HTTP\\nchanges';
   create table genre (id int primary key, name text);
   comment on table genre is 'HTTP';
   insert into film values (1, 'M', 1931);
   create publication pgway_changes for table film;`,
  { routineSources: [crudSource({ listing: true }), postgrestSource()] },
);

const clientFiles = (options: object = {}): ReturnType<typeof typescriptClientFiles> =>
  typescriptClientFiles(
    gateway.gateway.endpoints,
    { filePath: 'client.ts', headerLines: [], createSeparateTypeFile: false, ...options },
    at,
  );

test('a table with changes has the function of the other module as a method', () => {
  const tables = clientFiles().find(({ path }) => path === 'clientTables.ts')!.content;
  expect(tables).toMatch(/^import \{ filmChanges as _changes1 \} from "\.\/client\.ts";\n/);
  expect(tables).toContain(`interface _Streams {
  film: { readonly changes: typeof _changes1 };
}`);
  expect(tables).toContain('const _streams = new Map<string, object>([\n  ["film", { changes: _changes1 }],\n]);');
  const bySchema = clientFiles({ filePath: 'src/{0}/client.ts', bySchema: true });
  expect(bySchema.map(({ path, content }) => [path, / from ".*"/.exec(content)?.[0]])).toEqual([
    ['src/Public/client.ts', undefined],
    ['src//clientTables.ts', ' from "./Public/client.ts"'],
  ]);
});

test('the types are those of the function', async () => {
  const program = `
import { db } from './clientTables.ts';
export async function watch(): Promise<string[]> {
  for await (const films of db.film.changes({ snapshot: true, filter: { title: 'M' }, onInsert: (film) => film.shownIn?.toFixed() })) {
    return films.map(({ title }) => title);
  }
  const rows = await db.film.select({ columns: ['shown_in'] });
  // @ts-expect-error: not a column
  db.film.changes({ filter: { name: 'M' } });
  // @ts-expect-error: a table without changes
  db.genre.changes();
  return rows.map(({ shown_in }) => String(shown_in));
}
`;
  expect(await compile([...clientFiles(), { path: 'program.ts', content: program }])).toBe('');
});

test('the list of a table follows its changes', async () => {
  const program = `import { db } from './clientTables.js';
let step = 0;
for await (const films of db.film.changes({ snapshot: true })) {
  console.log(JSON.stringify(films));
  if (step++ === 0) await db.film.insert({ id: 2, title: 'N' });
  else if (films.length === 2) await db.film.delete({ where: { id: 1 } });
  else if (films[0].id === 2) break;
}`;
  const { folder, remove } = await folderWith([
    { path: 'package.json', content: '{ "type": "module" }' },
    ...clientFiles({ skipTypes: true, customHost: gateway.url }),
    { path: 'program.js', content: program },
  ]);
  onTestFinished(remove);
  const { stdout } = await promisify(execFile)(process.execPath, ['program.js'], { cwd: folder });
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    [{ id: 1, title: 'M', shownIn: 1931 }],
    [
      { id: 1, title: 'M', shownIn: 1931 },
      { id: 2, title: 'N', shownIn: null },
    ],
    [{ id: 2, title: 'N', shownIn: null }],
  ]);
});
