import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { startWithFiles, writeSqlFile } from './folder.ts';

test('row level security and claims are those of the caller, and a client cannot send a claim', async () => {
  const role = `reader_${randomBytes(6).toString('hex')}`;
  const sql = `
    create role ${role};
    create table note (id int, owner text);
    insert into note values (1, '${role}'), (2, 'other');
    alter table note enable row level security;
    create policy own on note for select using (owner = current_user);
    grant select on note to ${role};
  `;
  const files = await startWithFiles(
    sql,
    {
      'notes.sql': '-- HTTP\n-- authorize\nselect id from note',
      'mine.sql': '-- HTTP\n-- authorize\n-- param me is claim db_role\nselect id from note where owner = :me',
    },
    { gateway: { authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } } },
  );
  onTestFinished(async () => {
    await files.database.query(`drop owned by ${role}; drop role ${role}`);
    await files.close();
  });
  const headers = { 'x-role': role };
  expect((await files.send('GET /api/notes')).status).toBe(401);
  expect((await files.send('GET /api/notes', { headers })).body).toBe('[1]');
  expect((await files.send('GET /api/mine', { headers })).body).toBe('[1]');
  expect((await files.send('GET /api/mine?me=other', { headers })).status).toBe(400);
});

test('a refresh prepares the files again, and a request to a changed table gets the new answer', async () => {
  const sql = `create table film (id int, length int); insert into film values (1, 90)`;
  const files = await startWithFiles(sql, { 'films.sql': '-- HTTP\nselect id, length from film' });
  onTestFinished(() => files.close());
  expect((await files.send('GET /api/films')).body).toBe('[{"id":1,"length":90}]');
  await files.database.query('alter table film alter length type text');
  expect((await files.send('GET /api/films')).body).toBe('[{"id":1,"length":"90"}]');
  await writeSqlFile(files.folder, 'films.sql', '-- HTTP\nselect length from film');
  await files.gateway.refresh();
  expect((await files.send('GET /api/films')).body).toBe('["90"]');
});
