import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { isPlain, scout } from '../support/scout.ts';

const database = useDatabase(`
  create table film (id int primary key, title text default 'None', price numeric);
  comment on column film.price is E'in \u001b[31mEUR';
  create function cheap() returns setof film language sql as $$
select *
from film
where price < 1 -- EUR
$$;
`);

function search(...argv: readonly string[]): ReturnType<typeof scout> {
  return scout(['--search', ...argv, '-c', database.connectionString]);
}

test('the lines that contain the text, with their numbers in the definition', async () => {
  expect(await search('eur')).toEqual({
    code: 0,
    stderr: '',
    stdout: `-- TABLE public.film
  8: COMMENT ON COLUMN public.film.price IS E'in \\u001b[31mEUR';

-- FUNCTION public.cheap()
  7: where price < 1 -- EUR
`,
  });
});

test('a regular expression', async () => {
  expect((await search('--regex', String.raw`^where\s+price`)).stdout).toBe(
    '-- FUNCTION public.cheap()\n  7: where price < 1 -- EUR\n',
  );
  expect((await search('a.c')).code).toBe(1);
  expect(await search('(', '--regex')).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^pgscout: --search: Invalid regular expression: \/\(\/iu: .*\n$/),
  });
});

test('matches are highlighted on a terminal', async () => {
  const { stdout } = await scout(['--search', 'NONE', '-c', database.connectionString], { hasColors: true });
  expect(stdout).toBe("-- TABLE public.film\n  3:     title text DEFAULT '\u001b[1;33mNone\u001b[0m'::text,\n");
});

test('--full prints the definitions that contain the text', async () => {
  expect(await search('where price', '--full')).toEqual({
    code: 0,
    stderr: '',
    stdout: `-- FUNCTION public.cheap()

CREATE OR REPLACE FUNCTION public.cheap()
 RETURNS SETOF public.film
 LANGUAGE sql
AS $function$
select *
from film
where price < 1 -- EUR
$function$;
`,
  });
  const [found] = JSON.parse((await search('where price', '--full', '--json')).stdout) as [object];
  expect(found).toMatchObject({
    lines: [{ number: 7 }],
    statements: [expect.stringMatching(/^CREATE OR REPLACE FUNCTION/)],
  });
});

test('--json has the lines of each object', async () => {
  const { stdout } = await search('EUR', '--json');
  expect(isPlain(stdout)).toBe(true);
  expect(JSON.parse(stdout)).toMatchObject([
    { kind: 'TABLE', lines: [{ number: 8 }] },
    { kind: 'FUNCTION', qualifiedName: 'public.cheap()', lines: [{ number: 7, text: 'where price < 1 -- EUR' }] },
  ]);
});

test('a text that no definition contains', async () => {
  expect(await search('nothing such')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no definition contains "nothing such"\n',
  });
});
