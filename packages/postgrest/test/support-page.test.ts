import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* The page of what the dialect supports names each setting of PostgREST 16, and options that exist. */

const settings = `
  admin-server-host admin-server-port admin-server-unix-socket admin-server-unix-socket-mode app.settings.*
  client-error-verbosity db-aggregates-enabled db-anon-role db-channel db-channel-enabled db-config
  db-extra-search-path db-hoisted-tx-settings db-max-rows db-plan-enabled db-pool db-pool-acquisition-timeout
  db-pool-automatic-recovery db-pool-max-idletime db-pool-max-lifetime db-pre-config db-pre-request
  db-prepared-statements db-root-spec db-schemas db-tx-end db-uri jwt-aud jwt-cache-max-entries
  jwt-role-claim-key jwt-secret jwt-secret-is-base64 log-level log-query openapi-mode openapi-security-active
  openapi-server-proxy-uri server-cors-allowed-origins server-host server-port server-reuseport
  server-timing-enabled server-trace-header server-unix-socket server-unix-socket-mode
  url-use-legacy-target-names
`
  .trim()
  .split(/\s+/);

const read = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');
const section = /^## Settings\n(.*?)^## /ms.exec(read('postgrest-support.md'))![1]!;
const namesIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
const rows = [...section.matchAll(/^\| (`.*?) \| (.*?) \|(?: (.*))? \|$/gm)].map(([, names, here, remark]) => ({
  names: namesIn(names!),
  options: namesIn(here!),
  isNone: here === 'none',
  remark,
}));

test('each setting has one row', () => {
  expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(settings.toSorted());
});

test('a row has options of the configuration, or none with a reason', () => {
  const reference = read('configuration.md');
  const options = new Set([...reference.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name));
  expect(rows.flatMap((row) => row.options).filter((name) => !options.has(name))).toEqual([]);
  expect(rows.filter((row) => (row.isNone ? !row.remark : row.options.length === 0))).toEqual([]);
});

test('the count is that of the rows', () => {
  const found = rows.filter((row) => !row.isNone).flatMap(({ names }) => names);
  expect(section).toContain(`\n${found.length} of the ${settings.length} settings that PostgREST 16 documents`);
});
