import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { asLines, column, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';

const database = useDatabase(`
  create table film (id integer primary key, title text, hidden text default 'h');
  create publication pgway_changes for table film;
`);

const columns = [column('id', 'number'), column('title', 'string')];
const film = queryOf('film', columns);

describe('the differences between two snapshots', () => {
  test('inserts, updates and deletes of committed transactions arrive as the table has them', async () => {
    const { engine } = await startEngine(database);
    const { messages } = await subscribe(engine, requestOf(film));

    await database.query(`insert into film values (1, 'One'), (2, 'Two')`);
    await expect
      .poll(() => asLines(messages))
      .toEqual(['begin', 'insert {"id":1,"title":"One"}', 'insert {"id":2,"title":"Two"}']);
    await database.query(`update film set title = 'First' where id = 1; update film set hidden = 'x' where id = 2`);
    await database.query('delete from film where id = 2');
    await expect
      .poll(() => asLines(messages).slice(3))
      .toEqual(['update {"id":1,"title":"First"}', 'delete was {"id":2}']);
    await database.query('delete from film');
  });
});
