import { describe, expect, test } from 'vitest';
import { people } from '../events/people.ts';
import { useFiles } from './folder.ts';

/** Lines about `$1` that name it by its number or by the name that another line gives it, in either order. */

describe('a claim is the one of the caller', () => {
  const claims: readonly (readonly [name: string, comment: string, parameter: string])[] = [
    ['named before', '-- param $1 owner\n-- param owner is claim name', 'owner'],
    ['named later', '-- param owner is claim name\n-- param $1 owner', 'owner'],
    ['named with is', '-- param $1 is owner\n-- param owner is claim name', 'owner'],
    ['in one line', '-- param $1 owner is claim name', 'owner'],
    ['by number, named later', '-- param $1 is claim name\n-- param $1 owner', 'owner'],
    ['by number, named before', '-- param $1 owner\n-- param $1 is claim name', 'owner'],
    ['without a name', '-- param $1 is claim name', '$1'],
    ['in comments of one line', '/* path /x */ /* param $1 owner */ /* param owner is claim name */', 'owner'],
    [
      'behind tags that the file does not have',
      '-- param $1 owner\n-- for others\n-- param owner is claim name',
      'owner',
    ],
    ['with a type', '-- param $1 owner\n-- param owner is claim name\n-- param owner text', 'owner'],
  ];
  const files = useFiles(
    '',
    Object.fromEntries(
      claims.map(([, comment], index) => [
        `c${index}.sql`,
        `-- HTTP GET /c${index}\n${comment}\n-- single\nselect $1::text`,
      ]),
    ),
    { gateway: { authentication: { schemes: [people().scheme] } } },
  );

  test.each(claims.map((claim, index) => [...claim, index] as const))('%s', async (_, __, parameter, index) => {
    const { send, gateway } = files.current();
    const path = gateway.endpoints.find(({ id }) => id === `c${index}.sql`)!.path;
    const headers = { 'x-user': 'ada' };
    expect((await send(`GET ${path}`, { headers })).body).toBe('ada');
    expect((await send(`GET ${path}`)).body).toBe('');
    const forged = encodeURIComponent('{"name":"victim"}');
    const refused = await send(`GET ${path}?${parameter}=${forged}`, { headers });
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('may not be given')]);
  });
});

test('define_param leaves the claim of a parameter as it is', async () => {
  const { send } = others.current();
  const headers = { 'x-user': 'ada' };
  expect((await send('GET /api/defined', { headers })).body).toBe('ada');
  expect((await send('GET /api/defined?me=x', { headers })).status).toBe(400);
});

const lines: readonly (readonly [file: string, text: string, request: string, answer: string])[] = [
  ['default', '-- param X default 4\nselect $1::int', 'GET', '200 4'],
  ['type', '-- param X type int\nselect $1 + 1', 'GET ?n=3', '200 4'],
  ['both', '-- param X type numeric(6, 2) default 1.5\nselect $1', 'GET', '200 1.50'],
  ['equals', '-- param X type text = hey\nselect $1', 'GET', '200 hey'],
  ['query', '-- param X = select 40 + 2\nselect $1::int', 'GET', '200 42'],
  ['bare-query', '-- X = select 40 + 2\nselect $1::int', 'GET', '200 42'],
  ['input', '-- param $2 other\n-- param other = select 1 + X::int\nselect $1::int + $2::int', 'GET ?n=3', '200 7'],
  ['user', '-- param X is user_name\nselect $1::text', 'GET', '200 ada'],
  ['hash', '-- param X is hash of X\nselect length($1::text) > 20', 'GET ?n=secret', '200 true'],
  ['rule', "-- validate X using pattern '^[a-c]+$'\nselect $1::text", 'GET ?n=d', '400'],
];

/** A parameter of a line by its number, or by its name. In a query, `:n` is the name. */
function writeLines(text: string, parameter: string): string {
  return text.replaceAll(/\bX\b(?=::)/g, parameter === 'n' ? ':n' : parameter).replaceAll(/\bX\b/g, parameter);
}

const variants = lines.flatMap(([name, text, request, answer]) =>
  ['$1', 'n'].flatMap((parameter) =>
    ['before', 'after'].map((place) => {
      const file = `${name}-${parameter === 'n' ? 'name' : 'number'}-${place}`;
      const own = writeLines(text, parameter);
      const rename = '-- param $1 n';
      const at = own.lastIndexOf('\n');
      const comments = place === 'before' ? `${rename}\n${own.slice(0, at)}` : `${own.slice(0, at)}\n${rename}`;
      return { file, text: `-- HTTP\n${comments}\n-- single${own.slice(at)}`, request, answer };
    }),
  ),
);

const others = useFiles(
  '',
  {
    'defined.sql': '-- HTTP\n-- param me is claim name\n-- define_param me text\n-- single\nselect :me::text',
    'type-behind-name.sql': '-- HTTP\n-- param $1 n\n-- param n integer\n-- single\nselect $1',
    ...Object.fromEntries(variants.map(({ file, text }) => [`${file}.sql`, text])),
  },
  { gateway: { authentication: { schemes: [people().scheme] } } },
);

test('a word behind a name that $1 has is a type', async () => {
  expect((await others.current().send('GET /api/type-behind-name?n=3')).body).toBe('3');
});

test.each(variants.map((variant) => [variant.file, variant] as const))('%s', async (_, variant) => {
  const { file, request, answer } = variant;
  const [method, query = ''] = request.split(' ');
  const { send, gateway } = others.current();
  const errors = gateway.diagnostics.filter(
    ({ routine, severity }) => routine === `${file}.sql` && severity === 'error',
  );
  expect(errors).toEqual([]);
  const given = await send(`${method} /api/${file}${query}`, { headers: { 'x-user': 'ada' } });
  expect(given.status === 200 ? `200 ${given.body}` : `${given.status}`).toBe(answer);
});
