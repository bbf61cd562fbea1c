import { fastify } from 'fastify';
import pg from 'pg';

import type { ContenderSettings, ListeningServer } from './contender.ts';
import { listen, openPipelines } from './fastify.ts';

interface AuthorQuery {
  Querystring: { id: string; limit: number };
}

interface JoinedRow {
  readonly id: number;
  readonly name: string;
  readonly book_id: number | null;
  readonly title: string;
}

interface Author {
  readonly id: number;
  readonly name: string;
  readonly book: { readonly id: number; readonly title: string }[];
}

const querystring = {
  type: 'object',
  properties: {
    select: { const: 'id,name,book(id,title)' },
    id: { type: 'string', pattern: '^gt\\.[0-9]{1,9}$' },
    order: { const: 'id' },
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
  },
  required: ['id', 'limit'],
};

function parameters({ id, limit }: AuthorQuery['Querystring']): readonly number[] {
  return [Number(id.slice('gt.'.length)), limit];
}

/** One statement with a join, whose rows the handler groups. */
export async function startFastifyRelated(settings: ContenderSettings): Promise<ListeningServer> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = fastify({ logger: false });
  const text = `
    select author.id, author.name, book.id as book_id, book.title
    from (select id, name from bench.author where id > $1 order by id limit $2) author
    left join bench.book on book.author_id = author.id
    order by author.id`;
  app.get<AuthorQuery>('/api/bench/author', { schema: { querystring } }, async (request, reply) => {
    const values = [...parameters(request.query)];
    const { rows } = await pool.query<JoinedRow>({ name: 'authors', text, values });
    return reply.send(group(rows));
  });
  return listen(app, () => pool.end());
}

function group(rows: readonly JoinedRow[]): readonly Author[] {
  const authors: Author[] = [];
  for (const { id, name, book_id, title } of rows) {
    let author = authors.at(-1);
    if (author?.id !== id) {
      author = { id, name, book: [] };
      authors.push(author);
    }
    if (book_id !== null) author.book.push({ id: book_id, title });
  }
  return authors;
}

/** The fastest form by hand: PostgreSQL makes the JSON, which is sent as it is. */
export async function startFastifyRelatedJson(settings: ContenderSettings): Promise<ListeningServer> {
  const { nextClient, close } = await openPipelines(settings);
  const app = fastify({ logger: false });
  const text = `
    select coalesce(json_agg(r), '[]')::text as json from (
      select author.id, author.name, (
        select coalesce(json_agg(json_build_object('id', book.id, 'title', book.title)), '[]')
        from bench.book where book.author_id = author.id
      ) as book
      from bench.author where id > $1 order by id limit $2
    ) r`;
  app.get<AuthorQuery>('/api/bench/author', { schema: { querystring } }, async (request, reply) => {
    const values = [...parameters(request.query)];
    const { rows } = await nextClient().query<{ json: string }>({ name: 'authors', text, values });
    return reply.header('content-type', 'application/json; charset=utf-8').send(rows[0]!.json);
  });
  return listen(app, close);
}
