import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { problemTypes } from '../../src/http/problem.ts';
import { sqlstateStatuses } from '../../src/request/sqlstate.ts';

const page = await readFile(new URL('../../../../docs/guide/errors.md', import.meta.url), 'utf8');
const problems = await readFile(new URL('../../../../docs/reference/problems.md', import.meta.url), 'utf8');

test('the reference of problems has every problem, with its status', () => {
  const listed = [...problems.matchAll(/^\| (\d{3}) \| `([a-z-]+)` \|/gm)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const known = Object.entries(problemTypes).map(([code, { status }]) => `${status} ${code}`);
  expect(listed.toSorted()).toEqual(known.toSorted());
});

test('the page of errors has every SQLSTATE that has a status, with it', () => {
  const rows = [...page.matchAll(/^\| (`[0-9A-Z]{2}.*?) \|.*\| (\d{3})\b.*\|$/gm)];
  const listed = rows.flatMap(([, codes, status]) =>
    [...codes!.matchAll(/`([0-9A-Z]+)…?`/g)].map(([, code]) => [code!, Number(status)] as const),
  );
  expect(listed.length).toBeGreaterThan(10);
  expect(Object.fromEntries(listed)).toEqual(sqlstateStatuses);
});
