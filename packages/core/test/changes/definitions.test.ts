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
