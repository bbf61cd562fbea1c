import type { AddressInfo } from 'node:net';

import { fastify } from 'fastify';
import pg from 'pg';

import type { ListeningServer, ContenderSettings } from './contender.ts';

const integers = (...names: string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
  required: names,
});

/** Handlers as a team would write them: a pool, prepared statements, a schema for the query string, rows sent unchanged. */
export async function startFastify(settings: ContenderSettings): Promise<ListeningServer> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = fastify({ logger: false });

  app.get<{ Querystring: { a: number; b: number } }>(
    '/api/bench/add',
    { schema: { querystring: integers('a', 'b') } },
    async (request, reply) => {
      const { a, b } = request.query;
      const { rows } = await pool.query<{ sum: number }>({
        name: 'add',
        text: 'select bench.add($1, $2) as sum',
        values: [a, b],
      });
      return reply.send(rows[0]?.sum);
    },
  );

  app.get<{ Querystring: { lim: number } }>(
    '/api/bench/items',
    { schema: { querystring: integers('lim') } },
    async (request, reply) => {
      const { rows } = await pool.query({
        name: 'items',
        text: 'select * from bench.items($1)',
        values: [request.query.lim],
      });
      return reply.send(rows);
    },
  );

  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    port: (app.server.address() as AddressInfo).port,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await pool.end();
    },
  };
}
