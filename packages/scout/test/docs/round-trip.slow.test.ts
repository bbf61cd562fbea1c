/** Comments of a real database survive the file, whatever they contain. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cases, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { scout } from '../support/scout.ts';
import { commentText } from '../support/comment-text.ts';

const database = useDatabase(`
  create schema shop;
  create table shop.film (id int);
  create function shop.find(a int) returns int language sql as 'select 1';
  create type shop.address as (city text);
`);

const targets = [
  'SCHEMA shop',
  'TABLE shop.film',
  'COLUMN shop.film.id',
  'FUNCTION shop.find(integer)',
  'TYPE shop.address',
  'COLUMN shop.address.city',
] as const;

const commentsSql = `select array[obj_description('shop'::regnamespace, 'pg_namespace'), obj_description('shop.film'::regclass, 'pg_class'),
  col_description('shop.film'::regclass, 1), obj_description('shop.find'::regproc, 'pg_proc'), obj_description('shop.address'::regtype, 'pg_type'),
  col_description('shop.address'::regclass, 1)] as comments`;

/** Any text as entities, between the markers of an object. */
function written(target: string, text: string): string {
  const entities = Array.from(text, (character) => `&#x${character.codePointAt(0)!.toString(16)};`).join('');
  return target.startsWith('COLUMN') ? entities : `\n${entities}\n`;
}

test('without an edit, nothing is to be done; an edited comment is one statement', async () => {
  const folder = await folderWith();
  const run = (...argv: readonly string[]): ReturnType<typeof scout> =>
    scout([...argv, '-c', database.connectionString], { folder });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...targets.map(() => fc.option(commentText))),
      fc.nat(targets.length - 1),
      commentText,
      async (comments, index, edit) => {
        const statements = targets.map((target, at) => {
          const comment = comments[at] ?? null;
          return `comment on ${target} is ${comment === null ? 'null' : `'${comment.replaceAll("'", "''")}'`}`;
        });
        await database.query(statements.join(';'));
        const { stdout } = await run('--docs', 'shop');
        await writeFile(join(folder, 'docs.md'), stdout);
        expect(await run('--commit-docs', 'docs.md')).toEqual({
          code: 0,
          stdout: '',
          stderr: 'no comment is edited\n',
        });
        fc.pre(edit !== comments[index]);
        const target = targets[index]!;
        const marker = new RegExp(
          `(<!-- pgscout ${target.replace(/[()]/g, '\\$&')} \\w+ -->)[^]*?(?=<!-- /pgscout -->)`,
        );
        await writeFile(
          join(folder, 'docs.md'),
          stdout.replace(marker, (_, start: string) => `${start}${written(target, edit)}`),
        );
        const outcome = await run('--commit-docs', 'docs.md', '--yes');
        expect([outcome.code, outcome.stderr]).toEqual([0, '1 comment written to the database\n']);
        const [row] = await database.query(commentsSql);
        expect(row!['comments']).toEqual(comments.map((comment, at) => (at === index ? edit : comment)));
      },
    ),
    { numRuns: cases(50) },
  );
});
