import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { cases, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { Client, type DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addFault, type Rules, rulesSql, selectRules } from './nested-faults.ts';
import { createTrees, type Level, type Pick, type SingleInsert, toBody, toLevels, toSelect } from './nested-trees.ts';
import { createSample, type Row, type Sample, type SampleTable } from './sample-rows.ts';
import { sampleSchema, sampleSchemas } from './sample-schemas.ts';

/* A request with related rows does what a transaction of single inserts does, of the same rows in the same order: on each sample schema. */

/** Roles belong to the whole server. */
const user = `pgway_trees_${randomBytes(6).toString('hex')}`;

describe.each(sampleSchemas)('%s', (name) => {
  const gateway = useGateway(`create role ${user}_${name};${sampleSchema(name)}`, {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
    authentication: {
      jwt: {
        keys: [{ secret: 'a secret of at least thirty-two characters' }],
        issuer: ['https://id.example.org'],
        audience: ['app'],
      },
      databaseRole: { claim: 'role', anonymous: `${user}_${name}` },
    },
  });
  let sample: Sample;
  let rules: Rules;
  beforeAll(async () => {
    sample = await createSample(gateway.database);
    rules = selectRules(sample);
    await gateway.database.query(rulesSql(sample, rules, `${user}_${name}`));
    await gateway.database.query(saveSql(sample));
  });
  afterAll(async () => {
    await gateway.database.query(`drop owned by ${user}_${name}; drop role ${user}_${name}`);
  });

  /** Returns the rows of the tables, and what the sequences give next. */
  const content = async (sqls: readonly string[]): Promise<unknown> => {
    const members = sqls.map(
      (sql) => `'${sql.replaceAll("'", "''")}', (select jsonb_agg(to_jsonb(t) order by to_jsonb(t)) from ${sql} t)`,
    );
    const [row] = await gateway.database.query(`select jsonb_build_object(${members.join()}) as rows`);
    return row!['rows'];
  };

  /** Inserts the rows by a statement each, in one transaction. Returns the first error with its row; null: there is none. */
  const insertSingly = async (
    inserts: readonly SingleInsert[],
    mode: string,
  ): Promise<{ readonly code: string; readonly insert: SingleInsert } | null> => {
    const rows = new Map<SingleInsert, Row>();
    const client = new Client(gateway.database.connectionString);
    await client.connect();
    try {
      await client.query(`begin; set local role ${user}_${name}`);
      for (const insert of inserts) {
        const { row, outer } = insert;
        const handed = (outer?.key.columns ?? []).map((column, at) => [
          column,
          rows.get(outer!.insert)![outer!.key.targetColumns[at]!],
        ]);
        const values: Row = { ...row.values, ...Object.fromEntries(handed) };
        try {
          const { rows: returned } = await client.query(insertSql(row.table, Object.keys(values), mode), [
            JSON.stringify(values),
          ]);
          rows.set(insert, returned[0].row);
        } catch (error) {
          await client.query('rollback');
          return { code: (error as DatabaseError).code!, insert };
        }
      }
      await client.query('commit');
      return null;
    } finally {
      await client.end();
    }
  };

  /** Reads a row with its related rows. */
  const readRow = async (path: string, { columns }: SampleTable, row: Row): Promise<unknown> => {
    const keys = columns.filter(({ isKey }) => isKey).map((column) => column.name);
    const filters = keys.map((key) => `&${encodeURIComponent(`"${key}"`)}=eq.${encodeURIComponent(String(row[key]))}`);
    return (JSON.parse((await gateway.send(`GET ${path}${filters.join('')}`)).body) as Row[])[0];
  };

  test('related rows are those of single inserts, with the same errors', async () => {
    const runs = cases(120);
    const outcomes = new Set<'done' | 'refused'>();
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (generate) => {
        const pick: Pick = (max) => generate(fc.nat, { max });
        const mode = (['plain', 'missing=default', 'resolution=merge-duplicates'] as const)[pick(2)]!;
        const merges = mode === 'resolution=merge-duplicates';
        const trees = createTrees({
          sample,
          pick,
          forbidden: rules.forbidden,
          leavesOut: mode === 'missing=default',
          merges,
        });
        const levels = toLevels(trees);
        if (pick(1) === 1) addFault(levels, { sample, rules, merges }, pick);
        const prefer = mode === 'plain' ? 'return=representation' : `return=representation, ${mode}`;
        const tables = [...new Set(levels.flatMap((level) => level.map(({ row }) => row.table.sql)))];
        const root = trees[0]!.table;
        await gateway.database.query('select saved.restore($1)', [tables]);
        const before = await content(tables);
        const inserts = levels.flat();

        const failed = await insertSingly(inserts, mode);
        outcomes.add(failed === null ? 'done' : 'refused');
        const expected = await content(tables);
        await gateway.database.query('select saved.restore($1)', [tables]);

        const path = `/rest/${encodeURIComponent(root.name)}?select=${encodeURIComponent(toSelect(trees))}`;
        const { status, body } = await gateway.send(`POST ${path}`, { headers: { prefer }, body: toBody(trees) });
        const answer = JSON.parse(body) as Row | Row[];
        const error = errorOf(answer, merges);
        expect([status < 300, error?.['code']]).toEqual(failed === null ? [true, undefined] : [false, failed.code]);
        expect(failed === null ? [undefined] : pointersOf(failed.insert, levels)).toContain(error?.['pointer']);
        expect(await content(tables)).toEqual(expected);
        expect(failed === null ? null : expected).toEqual(failed === null ? null : before);
        const returned = Array.isArray(answer) ? answer : [];
        const read = await Promise.all(returned.map((row) => readRow(path, root, row)));
        expect(returned.map(sorted)).toEqual(read.map(sorted));
      }),
      { numRuns: runs },
    );
    // Few runs may have one of them by chance.
    const both = new Set(['done', 'refused']);
    expect(runs < 100 ? both : outcomes).toEqual(both);
  });
});

/** Leaves out trees where a sequence gives the key of another row of the statement: single inserts merge the two, one statement cannot. */
function errorOf(answer: Row | readonly Row[], merges: boolean): Row | null {
  const error = Array.isArray(answer) ? null : (answer as Row);
  fc.pre(!(merges && error?.['code'] === '21000'));
  return error;
}

function insertSql({ sql, columns }: SampleTable, names: readonly string[], mode: string): string {
  const list = names.map(quoted).join();
  const key = columns
    .filter(({ isKey }) => isKey)
    .map(({ name }) => quoted(name))
    .join();
  const merge = `on conflict (${key}) do update set ${names.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join()}`;
  const types = columns
    .filter(({ name }) => names.includes(name))
    .map(({ name, sqlType }) => `${quoted(name)} ${sqlType}`);
  const values =
    names.length === 0
      ? 'default values'
      : `(${list}) select ${list} from json_to_record($1) as body (${types.join()})`;
  return `insert into ${sql} as r ${values} ${mode.startsWith('resolution') && key !== '' ? merge : ''} returning to_jsonb(r) as row`;
}

/** Returns the pointers of a row and of the values around it, up to a value that has all rows of its statement: PostgreSQL may not tell the row. */
function pointersOf(insert: SingleInsert, levels: readonly Level[]): readonly string[] {
  const { pointer } = insert;
  const outermost = commonPointer(levels.find((level) => level.includes(insert))!);
  const parts = pointer.slice(outermost.length).split('/').slice(1);
  return [outermost, ...parts.map((_, index) => `${outermost}/${parts.slice(0, index + 1).join('/')}`)];
}

/** The smallest value with all rows of a statement. */
function commonPointer(level: Level): string {
  const [first, ...others] = level.map(({ pointer }) => pointer.split('/'));
  const length = first!.findIndex((part, index) => others.some((other) => other[index] !== part));
  return (length === -1 ? first! : first!.slice(0, length)).join('/');
}

/** Lists of related rows have no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sorted(each)]));
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Keeps all rows and sequences, and a function that restores those of some tables. */
function saveSql({ tables }: Sample): string {
  const saved = tables.map(({ sql, columns }, index) => {
    const list = columns
      .filter(({ isGenerated }) => !isGenerated)
      .map(({ name }) => quoted(name))
      .join();
    return `create table saved.rows_${index} as select ${list} from ${sql};
      insert into saved.list values ('${sql.replaceAll("'", "''")}', 'delete from ${sql.replaceAll("'", "''")}',
        'insert into ${sql.replaceAll("'", "''")} (${list}) overriding system value select * from saved.rows_${index}');`;
  });
  return `create schema saved;
    create table saved.list (name text, clear text, fill text);
    ${saved.join('')}
    create table saved.sequence as select format('%I.%I', schemaname, sequencename)::regclass as name, last_value from pg_sequences;
    create function saved.restore(names text[]) returns void language plpgsql as $$
      declare each record;
      begin
        set local session_replication_role = replica;
        for each in select * from saved.list where name = any (names) loop execute each.clear; execute each.fill; end loop;
        perform setval(name, coalesce(last_value, 1), last_value is not null) from saved.sequence;
      end $$`;
}
