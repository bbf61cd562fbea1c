import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { type Outcome, scout } from '../support/scout.ts';

const database = useDatabase(`
  create schema shop;
  comment on schema shop is 'The shop';
  create type shop.rating as enum ('G', 'PG-13');
  create table shop.language (id int primary key, name text not null unique);
  create table shop.film (
    id int generated always as identity primary key,
    title text default 'none' not null,
    language int constraint film_language references shop.language on delete cascade,
    slug text generated always as (lower(title)) stored,
    length smallint check (length > 0),
    rating shop.rating
  );
  comment on table shop.film is 'It''s a film';
  comment on column shop.film.title is E'The title\\nin *English* | <b>';
  create view shop.titles as select title from shop.film;
  comment on view shop.titles is E'All titles\\n\\n* one\\n';
  create type shop.address as (street text, city text);
  comment on column shop.address.city is 'Without the country';
  create domain shop.email as text not null check (value like '%@%');
  create function shop.cheap_films(_below numeric, _limit int default 10) returns setof shop.film
    language sql stable as 'select * from shop.film';
  comment on function shop.cheap_films(numeric, int)
    is E'HTTP GET /films/cheap\\nauthorize clerk, admin\\nFilms below a price';
  create function shop.add("A B" int, variadic b shop.rating[]) returns int language sql as 'select 1';
  create function shop.add(a int, b int) returns int language sql as 'select a + b';
  comment on function shop.add("A B" int, variadic b shop.rating[]) is 'HTTP GET /add-ratings';
  comment on function shop.add(a int, b int) is 'HTTP';
  create procedure shop.clean() language sql as '';
  create aggregate shop.product(int) (sfunc = int4mul, stype = int);
  create schema keys;
  create table keys.pair (a int, b int unique, unique (a, b));
  create schema other;
  create table other.rental (film int references shop.film, primary key (film)) partition by range (film);
  create table other.rental_1 partition of other.rental for values from (1) to (9);
`);

function docs(...argv: readonly string[]): Promise<Outcome> {
  return scout(['--docs', ...argv, '-c', database.connectionString]);
}

test('the dictionary of a schema', async () => {
  expect(await docs('shop')).toEqual({
    code: 0,
    stderr: '',
    stdout: `<!-- pgscout docs 1: edit the comments between the markers, then run pgscout --commit-docs -->

# Database dictionary

## Schema \`shop\`

<!-- pgscout SCHEMA shop 5db831d18935 -->
The shop
<!-- /pgscout -->

\`\`\`mermaid
erDiagram
  "film" {
    integer id PK
    text title
    integer language FK
    text slug
    smallint length
    shop_rating rating
  }
  "language" {
    integer id PK
    text name UK
  }
  "language" |o--o{ "film" : "language"
\`\`\`

### Table \`shop.film\`

<!-- pgscout TABLE shop.film 1c4a612c8231 -->
It's a film
<!-- /pgscout -->

| column | type | null | default | keys | comment |
|---|---|---|---|---|---|
| \`id\` | \`integer\` | no | generated always as identity | primary key | <!-- pgscout COLUMN shop.film.id none --><!-- /pgscout --> |
| \`title\` | \`text\` | no | \`'none'::text\` |  | <!-- pgscout COLUMN shop.film.title d3fb347b8029 -->The title<br>in \\*English\\* \\| &lt;b&gt;<!-- /pgscout --> |
| \`language\` | \`integer\` | yes |  | references \`shop.language\` | <!-- pgscout COLUMN shop.film.language none --><!-- /pgscout --> |
| \`slug\` | \`text\` | yes | generated: \`lower(title)\` |  | <!-- pgscout COLUMN shop.film.slug none --><!-- /pgscout --> |
| \`length\` | \`smallint\` | yes |  |  | <!-- pgscout COLUMN shop.film.length none --><!-- /pgscout --> |
| \`rating\` | \`shop.rating\` | yes |  |  | <!-- pgscout COLUMN shop.film.rating none --><!-- /pgscout --> |

- \`film_pkey\`: \`PRIMARY KEY (id)\`
- \`film_language\`: \`FOREIGN KEY (language) REFERENCES shop.language(id) ON DELETE CASCADE\`
- \`film_length_check\`: \`CHECK ((length > 0))\`

### Table \`shop.language\`

<!-- pgscout TABLE shop.language none -->
<!-- /pgscout -->

| column | type | null | default | keys | comment |
|---|---|---|---|---|---|
| \`id\` | \`integer\` | no |  | primary key | <!-- pgscout COLUMN shop.language.id none --><!-- /pgscout --> |
| \`name\` | \`text\` | no |  | unique | <!-- pgscout COLUMN shop.language.name none --><!-- /pgscout --> |

- \`language_pkey\`: \`PRIMARY KEY (id)\`
- \`language_name_key\`: \`UNIQUE (name)\`

### View \`shop.titles\`

<!-- pgscout VIEW shop.titles 8042e5446707 -->
\`\`\`text
All titles

* one

\`\`\`
<!-- /pgscout -->

| column | type | comment |
|---|---|---|
| \`title\` | \`text\` | <!-- pgscout COLUMN shop.titles.title none --><!-- /pgscout --> |

### Type \`shop.address\`

<!-- pgscout TYPE shop.address none -->
<!-- /pgscout -->

| column | type | comment |
|---|---|---|
| \`street\` | \`text\` | <!-- pgscout COLUMN shop.address.street none --><!-- /pgscout --> |
| \`city\` | \`text\` | <!-- pgscout COLUMN shop.address.city 4cd0e06e7c53 -->Without the country<!-- /pgscout --> |

### Type \`shop.rating\`

<!-- pgscout TYPE shop.rating none -->
<!-- /pgscout -->

- values: \`G\`, \`PG-13\`

### Domain \`shop.email\`

<!-- pgscout DOMAIN shop.email none -->
<!-- /pgscout -->

- type: \`text\`
- condition: \`NOT NULL\`
- condition: \`CHECK ((VALUE ~~ '%@%'::text))\`

### Function \`shop.add(integer, integer)\`

<!-- pgscout FUNCTION shop.add(integer, integer) 56d6f32151ad -->
HTTP
<!-- /pgscout -->

- arguments: \`a integer, b integer\`
- returns: \`integer\`
- endpoint: \`POST /api/shop/add\` (anonymous)

### Function \`shop.add(integer, shop.rating[])\`

<!-- pgscout FUNCTION shop.add(integer, shop.rating[]) 6286259c16eb -->
HTTP GET /add-ratings
<!-- /pgscout -->

- arguments: \`"A B" integer, VARIADIC b shop.rating[]\`
- returns: \`integer\`
- endpoint: \`GET /add-ratings\` (anonymous)

### Function \`shop.cheap_films(numeric, integer)\`

<!-- pgscout FUNCTION shop.cheap_films(numeric, integer) b4540ac4c8bd -->
\`\`\`text
HTTP GET /films/cheap
authorize clerk, admin
Films below a price
\`\`\`
<!-- /pgscout -->

- arguments: \`_below numeric, _limit integer DEFAULT 10\`
- returns: \`SETOF shop.film\`
- endpoint: \`GET /films/cheap\` (clerk, admin)

### Procedure \`shop.clean()\`

<!-- pgscout PROCEDURE shop.clean() none -->
<!-- /pgscout -->

### Aggregate \`shop.product(integer)\`

<!-- pgscout AGGREGATE shop.product(integer) none -->
<!-- /pgscout -->

- arguments: \`integer\`
- returns: \`integer\`
`,
  });
});

test('a reference to another schema, a unique reference, and partitions', async () => {
  const { stdout } = await docs('other.*');
  expect(stdout).toContain(`
\`\`\`mermaid
erDiagram
  "rental" {
    integer film PK, FK
  }
  "shop.film" ||--o| "rental" : "film"
\`\`\`
`);
  expect(stdout).toContain('<!-- /pgscout -->\n\nPartitioned by `RANGE (film)`\n');
  expect(stdout).toContain('<!-- /pgscout -->\n\nPartition of `other.rental`: `FOR VALUES FROM (1) TO (9)`\n');
});

test('keys of several columns are in the list only', async () => {
  const { stdout } = await docs('pair');
  expect(stdout.slice(stdout.indexOf('|---'))).toBe(`|---|---|---|---|---|---|
| \`a\` | \`integer\` | yes |  |  | <!-- pgscout COLUMN keys.pair.a none --><!-- /pgscout --> |
| \`b\` | \`integer\` | yes |  | unique | <!-- pgscout COLUMN keys.pair.b none --><!-- /pgscout --> |

- \`pair_a_b_key\`: \`UNIQUE (a, b)\`
- \`pair_b_key\`: \`UNIQUE (b)\`
`);
});

test('names select objects', async () => {
  const { stdout } = await docs('film;add(integer, integer)');
  expect(stdout.match(/^##.*/gm)).toEqual([
    '## Schema `shop`',
    '### Table `shop.film`',
    '### Function `shop.add(integer, integer)`',
  ]);
  expect(await docs('flim')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no object is named "flim"; did you mean film?\n',
  });
  expect(await docs('film_id_seq;film_language')).toMatchObject({ code: 1, stdout: '' });
});

test('the settings of the folder decide about endpoints', async () => {
  const folder = await folderWith({ 'pgway.json': { gateway: { urlPathPrefix: '/v2' } } });
  const { stdout } = await scout(['--docs', 'shop.add', '-c', database.connectionString], { folder });
  expect(stdout).toContain('- endpoint: `POST /v2/shop/add` (anonymous)\n');
});

test('--json has the same data', async () => {
  const { code, stdout } = await docs('shop.language;shop.cheap_films;rating', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    {
      schema: 'shop',
      comment: null,
      tables: [
        {
          kind: 'TABLE',
          name: 'language',
          qualifiedName: 'shop.language',
          comment: null,
          partitionOf: null,
          partitionBound: null,
          partitionKey: null,
          details: [],
          columns: [
            { name: 'id', type: 'integer', comment: null, isNotNull: true, value: null },
            { name: 'name', type: 'text', comment: null, isNotNull: true, value: null },
          ],
          constraints: [
            { name: 'language_pkey', columns: ['id'], definition: 'PRIMARY KEY (id)', references: null },
            { name: 'language_name_key', columns: ['name'], definition: 'UNIQUE (name)', references: null },
          ],
        },
      ],
      types: [
        {
          kind: 'TYPE',
          name: 'rating',
          qualifiedName: 'shop.rating',
          comment: null,
          labels: ['G', 'PG-13'],
          attributes: [],
          baseType: null,
          conditions: [],
        },
      ],
      routines: [
        {
          kind: 'FUNCTION',
          name: 'cheap_films',
          qualifiedName: 'shop.cheap_films(numeric, integer)',
          comment: 'HTTP GET /films/cheap\nauthorize clerk, admin\nFilms below a price',
          arguments: '_below numeric, _limit integer DEFAULT 10',
          result: 'SETOF shop.film',
          endpoint: { method: 'GET', path: '/films/cheap', authorization: 'clerk, admin' },
        },
      ],
    },
  ]);
});

test('--output writes a file, and keeps one with edited comments or of another program', async () => {
  const folder = await folderWith({ 'other.md': '# Notes\n' });
  const write = (file: string, ...argv: readonly string[]): Promise<Outcome> =>
    scout(['--docs', 'shop.film', '--output', file, ...argv, '-c', database.connectionString], { folder });
  expect(await write('docs/film.md')).toEqual({ code: 0, stdout: '', stderr: 'docs/film.md  written\n' });
  expect(await write('docs/film.md')).toEqual({ code: 0, stdout: '', stderr: 'docs/film.md  unchanged\n' });
  const file = join(folder, 'docs/film.md');
  const text = await readFile(file, 'utf8');
  expect(text).toBe((await docs('shop.film')).stdout);

  const edited = text.replace("It's a film", 'A film');
  await writeFile(file, edited);
  expect(await write('docs/film.md')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'pgscout: docs/film.md:22: a comment is edited, and not in the database; run pgscout --commit-docs docs/film.md, or remove the file\n',
  });
  expect(await readFile(file, 'utf8')).toBe(edited);
  // Text outside of the markers belongs to the command.
  await writeFile(file, `${text}\nMore\n`);
  expect(await write('docs/film.md')).toEqual({ code: 0, stdout: '', stderr: 'docs/film.md  overwritten\n' });

  expect(await write('other.md')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: other.md: not a dictionary: it does not have the first line that pgscout --docs writes\n',
  });
  expect(await readFile(join(folder, 'other.md'), 'utf8')).toBe('# Notes\n');
  expect(await write('x.md', '--json')).toMatchObject({ code: 2, stdout: '' });
});

test('indexes, triggers and policies of a table', async () => {
  await database.query(`
    create schema rules;
    create table rules.t (id int primary key, a text);
    create index by_a on rules.t (lower(a)) where id > 1;
    create function rules.f() returns trigger language plpgsql as 'begin return new; end';
    create trigger touch before update on rules.t for each row execute function rules.f();
    create policy own on rules.t as restrictive for select using (a = current_user);
    create policy "all" on rules.t with check (id > 0)`);
  onTestFinished(async () => {
    await database.query('drop schema rules cascade');
  });
  expect((await docs('rules.t')).stdout).toContain(`- \`t_pkey\`: \`PRIMARY KEY (id)\`
- index \`by_a\`: \`CREATE INDEX by_a ON rules.t USING btree (lower(a)) WHERE (id > 1)\`
- policy \`"all"\`: \`FOR ALL TO PUBLIC WITH CHECK ((id > 0))\`
- policy \`own\`: \`AS RESTRICTIVE FOR SELECT TO PUBLIC USING ((a = CURRENT_USER))\`
- trigger \`touch\`: \`CREATE TRIGGER touch BEFORE UPDATE ON rules.t FOR EACH ROW EXECUTE FUNCTION rules.f()\`
`);
});
