import type { AddressInfo } from 'node:net';

import { fastify, type FastifyInstance } from 'fastify';
import pg from 'pg';

import type { ListeningServer, ContenderSettings } from './contender.ts';

/** Handlers as a team would write them: a pool, prepared statements, a schema for parameters, rows sent unchanged. */
export async function startFastify(settings: ContenderSettings): Promise<ListeningServer> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = fastify({ logger: false });
  addScalars(app, pool);
  for (const routine of ['items', 'typed']) {
    app.get<LimitQuery>(`/api/bench/${routine}`, withQuery('lim'), async (request, reply) => {
      const text = `select * from bench.${routine}($1)`;
      const { rows } = await pool.query({ name: routine, text, values: [request.query.lim] });
      return reply.send(rows);
    });
  }
  return listen(app, () => pool.end());
}

/**
 * The fastest form by hand: clients in pipeline mode, taken in turn, and PostgreSQL makes the JSON, which is sent as it is. An error of
 * one statement does not affect others: the client sends Sync after each.
 */
export async function startFastifyJson(settings: ContenderSettings): Promise<ListeningServer> {
  const { nextClient, close } = await openPipelines(settings);
  const app = fastify({ logger: false });
  addScalars(app, { query: (statement) => nextClient().query(statement) });
  for (const routine of ['items', 'typed']) {
    const text = `select coalesce(json_agg(t), '[]')::text as json from bench.${routine}($1) t`;
    app.get<LimitQuery>(`/api/bench/${routine}`, withQuery('lim'), async (request, reply) => {
      const { rows } = await nextClient().query({ name: routine, text, values: [request.query.lim] });
      return reply.header('content-type', 'application/json; charset=utf-8').send(rows[0].json);
    });
  }
  return listen(app, close);
}

export interface Pipelines {
  readonly nextClient: () => pg.Client;
  readonly close: () => Promise<void>;
}

/** Connects clients in pipeline mode, which are taken in turn. */
export async function openPipelines({ connectionString, pool }: ContenderSettings): Promise<Pipelines> {
  const clients = Array.from({ length: pool }, () => new pg.Client({ connectionString, pipeline: true }));
  await Promise.all(clients.map((client) => client.connect()));
  let turn = 0;
  return {
    nextClient: () => clients[turn++ % clients.length]!,
    async close() {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}

interface SumQuery {
  Querystring: { a: number; b: number };
}

interface LimitQuery {
  Querystring: { lim: number };
}

interface VisitBody {
  Body: { id: number };
}

interface Queryable {
  query(statement: pg.QueryConfig): Promise<pg.QueryResult<{ result: number }>>;
}

function addScalars(app: FastifyInstance, database: Queryable): void {
  for (const routine of ['add', 'plus']) {
    app.get<SumQuery>(`/api/bench/${routine}`, withQuery('a', 'b'), async (request, reply) => {
      const { a, b } = request.query;
      const text = `select bench.${routine}($1, $2) as result`;
      const { rows } = await database.query({ name: routine, text, values: [a, b] });
      return reply.send(rows[0]?.result);
    });
  }
  app.post<VisitBody>('/api/bench/visit', { schema: { body: integers('id') } }, async (request, reply) => {
    const text = 'select bench.visit($1) as result';
    const { rows } = await database.query({ name: 'visit', text, values: [request.body.id] });
    return reply.send(rows[0]?.result);
  });
}

function withQuery(...names: string[]): { readonly schema: { readonly querystring: object } } {
  return { schema: { querystring: integers(...names) } };
}

function integers(...names: string[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
    required: names,
  };
}

export async function listen(app: FastifyInstance, release: () => Promise<void>): Promise<ListeningServer> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    port: (app.server.address() as AddressInfo).port,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await release();
    },
  };
}
