import { startGateway, type TestGateway } from '@pgway/testing';
import { type Endpoint, sqlFilesSource } from '@pgway/core';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { createFolder } from '../folder.ts';
import type { CorpusFile, Outcome } from './oracle.ts';
import { schema } from './shops.ts';

/** Starts a gateway with the files on a changed schema. `outcomeOf` returns the types of the endpoint of a file, or the places of its errors. */
export async function load(
  files: readonly CorpusFile[],
  change: string,
): Promise<{
  readonly client: pg.Client;
  readonly started: TestGateway;
  readonly outcomeOf: (file: CorpusFile) => Outcome;
}> {
  const folder = await createFolder(Object.fromEntries(files.map(({ name, text }) => [`${name}.sql`, text])));
  const started = await startGateway(`${schema}\n${change}`, {
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
  });
  onTestFinished(() => started.close());
  const { endpoints, diagnostics } = started.gateway;
  const client = new pg.Client({ connectionString: started.database.connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  const outcomeOf = ({ name, isObject }: CorpusFile): Outcome => {
    const id = `${name}.sql`;
    const endpoint = endpoints.find((one) => one.id === id);
    if (endpoint !== undefined) return typesOf(endpoint, isObject);
    const faults = diagnostics.filter(({ routine, severity }) => routine === id && severity === 'error');
    return { places: faults.map(({ line, message }) => `${line}:${/^column (\d+)/.exec(message)?.[1] ?? message}`) };
  };
  return { client, started, outcomeOf };
}

/** The types of an endpoint; those of several statements are in the members of its result. */
function typesOf({ parameters, result }: Endpoint, isObject: boolean): Outcome {
  const columns = 'columns' in result ? result.columns : 'column' in result ? [result.column] : [];
  const types = columns.map(({ type }) => type);
  const members = types.flatMap((type) => {
    const row = type.element ?? type;
    // The number of changed rows.
    if (row.json === 'number' && type.element === undefined) return [];
    return [row.fields?.map((field) => field.type.oid) ?? [row.oid]];
  });
  const results = result.kind === 'nothing' ? [] : [types.map(({ oid }) => oid)];
  return { parameters: parameters.map(({ type }) => type.oid), results: isObject ? members : results };
}

/** Before PostgreSQL 16, a prepared statement does not tell the types of its rows. */
export function withoutUnknown(outcome: Outcome, expected: Outcome): Outcome {
  return 'results' in outcome && 'results' in expected && expected.results === null
    ? { ...outcome, results: null }
    : outcome;
}
