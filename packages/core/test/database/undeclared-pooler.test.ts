/** PgBouncer in transaction mode without the option `pooler`. */
import { pgbouncerVersion, startPgBouncer, useDatabase } from '@pgway/testing';
import { createGateway, type Observation } from '@pgway/core';
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

const shared =
  'two open connections have the same process of the server: a pooler in transaction mode, such as PgBouncer, shares it, and settings of one ' +
  'client reach others; set pooler to transaction, or the pooler to session mode';

test.runIf(version !== null)('a pooler in transaction mode is reported once', async () => {
  expect(await failuresBehind('transaction')).toEqual([shared]);
});

test.runIf(version !== null)('a pooler in session mode is not', async () => {
  expect(await failuresBehind('session')).toEqual([]);
});

/** Opens several connections through a pooler, one after the other, and returns the reported failures of connections. */
async function failuresBehind(mode: 'session' | 'transaction'): Promise<readonly string[]> {
  const pooler = await startPgBouncer(db.connectionString, { mode, size: 4 });
  onTestFinished(() => pooler.stop());
  const observations: Observation[] = [];
  const observer = (observation: Observation): void => void observations.push(observation);
  // No named statement, which PgBouncer before 1.21 would refuse.
  const options = {
    connectionString: pooler.connectionString,
    preparedStatements: false,
    poolSize: 3,
    minPoolSize: 3,
    observer,
  };
  const gateway = await createGateway(options);
  onTestFinished(() => gateway.close());
  await expect.poll(() => gateway.statistics().pools.map(({ open }) => open)).toEqual([3]);
  return observations.flatMap((one) => (one.kind === 'connection-failed' ? [one.error.message] : []));
}

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
        /^prepared statement "pgway_\w+" (?:already exists|does not exist): a pooler in transaction mode, such as PgBouncer, shares the connection; set pooler to transaction, and preparedStatements to false if the pooler has none$/,
      ),
      status: 500,
      code: expect.stringMatching(/^(?:42P05|26000)$/),
      correlationId: expect.any(String),
    });
  }
});
