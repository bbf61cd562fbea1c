import { expect, onTestFinished, test } from 'vitest';
import { startWithFiles } from './folder.ts';

const sql = `
create table note (text text);
create function noted(value text) returns boolean language plpgsql as $$ begin insert into note values (value); return true; end $$;
create domain label as text check (noted(value));
create domain word as text check (value <> '');
create table film (film_id int primary key, title word not null);`;

test('what the checks of domains write, which PostgreSQL runs for literals of arrays while it reads a statement, is not kept at a load', async () => {
  const gateway = await startWithFiles(sql, {
    'label.sql': `-- HTTP\nselect '{a}'::label[] as labels`,
    'value.sql': `-- HTTP\n-- param name = select '{b}'::label[]\nselect :name::text[]`,
    'wrong.sql': `-- HTTP\nselect '{a}'::label[] as labels, titel from film`,
    'word.sql': `-- HTTP\nselect 'a'::word as word`,
    'film.sql': `-- HTTP POST\ninsert into film values (:id, 'Alien') returning title`,
    'table.sql': `-- HTTP POST\n-- void\ncreate table if not exists more (id int)`,
  });
  onTestFinished(() => gateway.close());
  const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ routine, line, message }) => [routine, line, message.split('\n')[0]])).toEqual([
    [
      'wrong.sql',
      2,
      'column 34: column "titel" does not exist (Perhaps you meant to reference the column "film.title".)',
    ],
  ]);
  expect(await gateway.database.query('select * from note')).toEqual([]);
  expect((await gateway.send('GET /api/word')).body).toBe('["a"]');
  expect((await gateway.send('POST /api/film', { body: { id: 1 } })).body).toBe('["Alien"]');
  expect((await gateway.send('POST /api/table')).status).toBe(204);
  expect(await gateway.database.query('select * from note')).toEqual([]);
  expect((await gateway.send('POST /api/label')).body).toBe('[["a"]]');
  expect(await gateway.database.query('select distinct text from note')).toEqual([{ text: 'a' }]);
});
