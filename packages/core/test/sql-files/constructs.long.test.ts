import { serverVersion } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { form } from '../uploads/forms.ts';
import { breakingChanges, type ConstructFile, constructFiles } from './corpus/constructs.ts';
import { shops } from './corpus/shops.ts';
import { load, withoutUnknown } from './corpus/load.ts';
import { type Outcome, prepare } from './corpus/oracle.ts';

/** The constructs of comments on six schemas. PostgreSQL is the oracle, as for the corpus of statements. */

const files = constructFiles.filter(({ since }) => since <= serverVersion());

async function compare(
  change: string,
): Promise<Awaited<ReturnType<typeof load>> & { readonly outcomes: ReadonlyMap<ConstructFile, Outcome> }> {
  const loaded = await load(files, change);
  const received: object[] = [];
  const outcomes = new Map<ConstructFile, Outcome>();
  for (const file of files) {
    const expected = await prepare(loaded.client, file);
    outcomes.set(file, expected);
    received.push({ text: file.text, ...withoutUnknown(loaded.outcomeOf(file), expected) });
  }
  expect(received).toEqual([...outcomes].map(([{ text }, outcome]) => ({ text, ...outcome })));
  return { ...loaded, outcomes };
}

test('PostgreSQL and the gateway agree on the types', async () => {
  const { started, outcomes } = await compare('');
  expect([...outcomes].flatMap(([{ text }, outcome]) => ('places' in outcome ? [{ text, ...outcome }] : []))).toEqual(
    [],
  );
  const shapes = files.map(({ name, isObject }) => {
    const { result } = started.gateway.endpoints.find(({ id }) => id === `${name}.sql`)!;
    return [
      name,
      result.kind + ('columns' in result && isObject ? ` ${result.columns.map(({ key }) => key).join()}` : ''),
    ];
  });
  expect(shapes).toEqual(files.map(({ name, shape }) => [name, shape]));
});

/** Values by the keys of parameters. */
const values: Readonly<Record<string, string | number | readonly (string | number)[]>> = {
  id: 1,
  firstId: 1,
  first_id: 1,
  line: 7,
  least: 0.5,
  n: 3,
  text: 'a',
  day: '2026-01-01',
  page: 2,
  ids: [1, 2],
  texts: ['a', 'b'],
};

const rows = shops
  .map(
    (n) => `insert into ${n.table} (${n.id}, ${n.text}, ${n.amount}, ${n.day}) values (1, 'b', 2, '2025-12-31');
insert into ${n.child} (${n.childId}, ${n.id}) values (1, 1);`,
  )
  .join('\n');

test('each file answers', async () => {
  const { started } = await load(files, rows);
  const answers: unknown[] = [];
  for (const { name } of files) {
    const endpoint = started.gateway.endpoints.find(({ id }) => id === `${name}.sql`)!;
    const { method, parameters, parameterSource, upload } = endpoint;
    const own = parameters.filter(
      ({ injectedValue, inPath, position }) =>
        injectedValue === undefined && !inPath && position !== upload?.metadataParameter,
    );
    const given = own.flatMap(({ key }) => (values[key] === undefined ? [] : [[key, values[key]] as const]));
    const query = given.flatMap(([key, value]) =>
      [value].flat().map((one) => `${key}=${encodeURIComponent(String(one))}`),
    );
    const path = endpoint.path.replace(/\{(\w+)\??\}/g, (_, key: string) => String(values[key]));
    const isQuery = parameterSource === 'query';
    const { status, body } = await started.send(`${method} ${path}${isQuery ? `?${query.join('&')}` : ''}`, {
      ...(upload === null ? {} : { body: form(['a.txt', 'x']) }),
      ...(isQuery ? {} : { body: Object.fromEntries(given) }),
    });
    answers.push([name, status, status === 200 || status === 204 ? '' : body]);
  }
  expect(answers).toEqual(files.map(({ name, shape }) => [name, shape === 'nothing' ? 204 : 200, '']));
});

describe.each(breakingChanges)('%s', (_, change) => {
  test('each file has the mistake at the place that PostgreSQL tells', async () => {
    const { outcomes } = await compare(change);
    expect([...outcomes].flatMap(([{ text }, outcome]) => ('places' in outcome ? [] : [text]))).toEqual([]);
  });
});
