import { serverVersion, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { withoutPassword } from '../../src/ddl/definitions/subscriptions.ts';
import { scout } from '../support/scout.ts';

const database = useDatabase();

function ddl(...argv: readonly string[]): ReturnType<typeof scout> {
  return scout([...argv, '-c', database.connectionString]);
}

const options = serverVersion() >= 16 ? `, binary, streaming = 'parallel', origin = 'none'` : '';

test('a subscription without its password, which can be created again', async () => {
  onTestFinished(() => database.query('drop subscription if exists "Film copy"').then(() => {}));
  await database.query(`create subscription "Film copy"
    connection 'host=shop.example.org user=copier password=''se\\''cret'' dbname=shop' publication films, "More"
    with (connect = false, slot_name = none, synchronous_commit = 'local'${options})`);
  await database.query(`comment on subscription "Film copy" is 'Films of the shop'`);

  const { code, stdout } = await ddl('--ddl', 'SUBSCRIPTION *', '--no-owner');
  const streaming = serverVersion() >= 18 ? 'parallel' : 'off';
  const written =
    serverVersion() >= 16 ? `, binary = true, streaming = parallel, origin = 'none'` : `, streaming = ${streaming}`;
  expect(code).toBe(0);
  expect(stdout).toBe(`-- SUBSCRIPTION "Film copy"

CREATE SUBSCRIPTION "Film copy" CONNECTION 'host=shop.example.org user=copier dbname=shop' PUBLICATION films, "More" WITH (connect = false, slot_name = NONE, synchronous_commit = 'local'${serverVersion() >= 14 ? written : ''});

COMMENT ON SUBSCRIPTION "Film copy" IS 'Films of the shop';
`);
  const { stdout: dump } = await ddl('--schema-dump');
  expect(dump).toContain('ALTER SUBSCRIPTION "Film copy" OWNER TO');
  await database.query('drop subscription "Film copy"');
  await database.query(dump);
  expect((await ddl('--schema-dump')).stdout).toBe(dump);
});

test('a role that must not see subscriptions has a list without an error', async () => {
  await database.query(
    "create subscription hidden connection 'dbname=a' publication p with (connect = false, slot_name = none)",
  );
  onTestFinished(() => database.query('drop subscription hidden').then(() => {}));
  const role = 'pg_read_all_stats';
  const url = `${database.connectionString}?options=-c%20role%3D${role}`;
  const { code, stdout } = await scout(['--schema-dump', '-c', url]);

  // PostgreSQL 13 shows no subscription to the role.
  const created = stdout.match(/CREATE SUBSCRIPTION .* PUBLICATION p/g) ?? [];
  expect([code, created]).toEqual([
    0,
    serverVersion() >= 14 ? [`CREATE SUBSCRIPTION hidden CONNECTION '' PUBLICATION p`] : [],
  ]);
});

test.each([
  ['host=a password=secret user=b', 'host=a user=b'],
  [`password = 'a \\' b' host = a`, 'host = a'],
  ['password=a\\ b sslpassword=c host=d', 'host=d'],
  [`host='a`, ''],
  ['PASSWORD=secret host=a', ''],
  ['', ''],
  ['postgresql://ann:p@ss:w@a:5432,b:5433/shop?sslmode=require', 'postgresql://ann@a:5432,b:5433/shop?sslmode=require'],
  ['postgres://a/shop?user=ann&password=secret&p%61ssword=secret', 'postgres://a/shop?user=ann'],
  ['postgres://a', 'postgres://a'],
])('%s without its passwords', (text, expected) => {
  expect(withoutPassword(text)).toBe(expected);
});
