/** Which changes of the catalog are a gap. */
import { randomBytes } from 'node:crypto';
import { useDatabase } from '@pgway/testing';
import { afterAll, expect, test } from 'vitest';
import { asLines, column, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';

const [superuser, member] = ['superuser', 'member'].map((name) => `${name}_${randomBytes(4).toString('hex')}`);
const database = useDatabase(`
  create table film (id integer primary key);
  create publication pgway_changes for table film;
  create role ${superuser} superuser;
  create role ${member};
`);
afterAll(() => database.query(`drop role ${superuser}, ${member}`).then(() => undefined));

test('a role that is granted to a superuser causes no gap: a superuser may read everything without it', async () => {
  const { engine } = await startEngine(database);
  const identity = { role: superuser, settings: [['role', superuser!]] as const, key: '' };
  const { messages } = await subscribe(engine, requestOf(queryOf('film', [column('id', 'number')]), { identity }));

  await database.query(`grant ${member} to ${superuser}; insert into film values (1)`);
  await expect.poll(() => asLines(messages).length).toBe(2);
  await database.query(`revoke ${member} from ${superuser}; delete from film`);
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":1}', 'delete was {"id":1}']);
});

test('a changed policy is a gap, but not for lookups with the rights of the owner unless policies are forced on it', async () => {
  await database.query(`
    create table message (id integer primary key);
    alter table message enable row level security;
    alter publication pgway_changes add table message;
  `);
  const { engine } = await startEngine(database);
  const query = queryOf('message', [column('id', 'number')]);
  const caller = await subscribe(engine, requestOf(query));
  const owner = await subscribe(engine, requestOf({ ...query, readsAsOwner: true }));

  await database.query('insert into message values (1); create policy first on message using (true)');
  await expect.poll(() => asLines(caller.messages)).toContain('gap schema-changed');
  await database.query('insert into message values (2)');
  await expect.poll(() => asLines(owner.messages)).toEqual(['begin', 'insert {"id":1}', 'insert {"id":2}']);

  await database.query('alter table message force row level security');
  await expect.poll(() => asLines(owner.messages)).toContain('gap schema-changed');
  const before = asLines(owner.messages).length;
  await database.query('create policy second on message using (true)');
  await expect.poll(() => asLines(owner.messages).slice(before)).toContain('gap schema-changed');
});
