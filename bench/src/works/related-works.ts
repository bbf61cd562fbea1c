import { deepStrictEqual } from 'node:assert/strict';

import { parseBody } from './routine-works.ts';
import { getRequest, type Work } from './work.ts';

const authors = 1000;
const booksPerAuthor = 5;

/** The statement of authors with their books that a developer would write. The texts are those of its parameters. */
function byHandSql(after: string, limit: string): string {
  return `select coalesce(json_agg(r), '[]') from (
    select author.id, author.name, (
      select coalesce(json_agg(json_build_object('id', book.id, 'title', book.title)), '[]')
      from bench.book where book.author_id = author.id
    ) as book
    from bench.author where id > ${after} order by id limit ${limit}
  ) r`;
}

/** Authors with five books each. The ids of books of one author are far apart. */
export const relatedSchemaSql: string = `
create unlogged table bench.author (id int primary key, name text not null);
create unlogged table bench.book (id int primary key, title text not null, author_id int not null references bench.author);
insert into bench.author select n, 'Author ' || n from generate_series(1, ${authors}) n;
insert into bench.book select n, 'Book ' || n, 1 + n % ${authors} from generate_series(1, ${authors * booksPerAuthor}) n;
create index on bench.book (author_id);
analyze bench.author;
analyze bench.book;
create function bench.authors_after(after int, lim int) returns json language sql stable as $$
  ${byHandSql('after', 'lim')}
$$;
comment on function bench.authors_after is 'HTTP GET';
`;

/** Authors with their books. */
export const relatedWorks: readonly Work[] = [relatedWork(10), relatedWork(100)];

/** Requests differ in their first author; every page is full. */
function relatedWork(count: number): Work {
  const after = (number: number): number => (number * 37) % (authors - count + 1);
  const work: Work = {
    name: `related-${count}`,
    loadRequests: 1,
    request: (number) =>
      getRequest(`/author?select=id,name,book(id,title)&id=gt.${after(number)}&order=id&limit=${count}`),
    verify(response, number) {
      const rows = parseBody(response) as readonly Author[];
      deepStrictEqual(
        rows.map((author) => ({ ...author, book: author.book.toSorted((left, right) => left.id - right.id) })),
        Array.from({ length: count }, (_, index) => expectedAuthor(after(number) + index + 1)),
      );
    },
    pgbench: { sql: `${byHandSql(':after', ':lim')};`, variables: { after: 0, lim: count } },
    goal: null,
  };
  const request: Work['request'] = (number) => getRequest(`/authors-after?after=${after(number)}&lim=${count}`);
  return { ...work, forms: { 'pgway-related-function': { ...work, request } } };
}

interface Author {
  readonly id: number;
  readonly name: string;
  readonly book: readonly { readonly id: number; readonly title: string }[];
}

function expectedAuthor(id: number): Author {
  const first = id === 1 ? authors : id - 1;
  const book = Array.from({ length: booksPerAuthor }, (_, index) => {
    const bookId = first + index * authors;
    return { id: bookId, title: `Book ${bookId}` };
  });
  return { id, name: `Author ${id}`, book };
}
