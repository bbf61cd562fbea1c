/** PgBouncer in transaction mode without the option `pooler`. */
import { pgbouncerVersion, startPgBouncer, useDatabase } from '@pgway/testing';
import { createGateway } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';

const version = await pgbouncerVersion();
/** PgBouncer prepares statements since 1.21: no error tells that it shares connections. */
const sharesStatements = version !== null && Number(version.split('.')[1]) < 21;

const db = useDatabase(`
  create function one() returns int language sql stable as $$ select 1 $$;
  comment on function one is 'HTTP';
  create function two() returns int language sql as $$ select 2 $$;
  comment on function two is 'HTTP';
`);

test.runIf(sharesStatements)('the error of a shared connection names the option', async () => {
  const pooler = await startPgBouncer(db.connectionString, { mode: 'transaction', size: 1 });
  onTestFinished(() => pooler.stop());
  const gateway = await createGateway({ connectionString: pooler.connectionString, poolSize: 4 });
  onTestFinished(() => gateway.close());
  const call = async (index: number): Promise<unknown> => {
    const request =
      index % 2 === 0
        ? new Request('http://localhost/api/one')
        : new Request('http://localhost/api/two', { method: 'POST' });
    const response = await gateway.fetch(request);
    return response!.status === 200 ? null : response!.json();
  };
  const problems = (await Promise.all(Array.from({ length: 16 }, (_, index) => call(index)))).filter(Boolean);
  expect(problems).not.toEqual([]);
  for (const problem of problems) {
    expect(problem).toEqual({
      type: 'urn:pgway:problem:database-error',
      title: expect.stringMatching(
        /^prepared statement "pgway_\w+" already exists: a pooler in transaction mode, such as PgBouncer, shares the connection; set pooler to transaction, and preparedStatements to false if the pooler has none$/,
      ),
      status: 500,
      code: '42P05',
      correlationId: expect.any(String),
    });
  }
});
