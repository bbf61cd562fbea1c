import { fastify } from 'fastify';
import pg from 'pg';

import type { ContenderSettings, ListeningServer } from './contender.ts';
import { listen } from './fastify.ts';

interface NoteQuery {
  Querystring: { id?: string; author?: number; limit?: number };
}

interface NewNote {
  Body: { author: number; title: string; priority: number };
}

interface NoteChange {
  Body: { id: number; title: string; done: boolean };
}

const integer = { type: 'integer' };
const text = { type: 'string' };

const querystring = {
  type: 'object',
  properties: { id: text, author: integer, limit: integer, order: { const: 'id' } },
};

const newNote = {
  type: 'object',
  properties: { author: integer, title: text, priority: integer },
  required: ['author', 'title', 'priority'],
};

const noteChange = {
  type: 'object',
  properties: { id: integer, title: text, done: { type: 'boolean' } },
  required: ['id', 'title', 'done'],
};

/** The reads and writes of the bench as handlers of their own: each accepts exactly its parameters, and knows its statement. */
export async function startFastifyTables(settings: ContenderSettings): Promise<ListeningServer> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = fastify({ logger: false });

  app.get<NoteQuery>('/api/bench/note', { schema: { querystring } }, async (request, reply) => {
    const { id = '', author, limit } = request.query;
    const statement =
      author === undefined
        ? { name: 'read', text: 'select * from bench.note where id = $1', values: [Number(id)] }
        : {
            name: 'list',
            text: 'select * from bench.note where author = $1 and id <= $2 order by id limit $3',
            values: [author, Number(id.replace('lte.', '')), limit],
          };
    const { rows } = await pool.query(statement);
    return reply.send(rows);
  });

  app.put<NewNote>('/api/bench/note/returning', { schema: { body: newNote } }, async (request, reply) => {
    const { author, title, priority } = request.body;
    const { rows } = await pool.query({
      name: 'insert',
      text: 'insert into bench.note (author, title, priority) values ($1, $2, $3) returning *',
      values: [author, title, priority],
    });
    return reply.send(rows);
  });

  app.post<NoteChange>('/api/bench/note/returning', { schema: { body: noteChange } }, async (request, reply) => {
    const { id, title, done } = request.body;
    const { rows } = await pool.query({
      name: 'update',
      text: 'update bench.note set title = $2, done = $3 where id = $1 returning *',
      values: [id, title, done],
    });
    return reply.send(rows);
  });

  return listen(app, () => pool.end());
}
