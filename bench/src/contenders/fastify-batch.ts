import { fastify } from 'fastify';
import type pg from 'pg';

import { parseBatch } from '../works/batch-works.ts';
import type { ContenderSettings, ListeningServer } from './contender.ts';
import { listen, openPipelines } from './fastify.ts';

interface BatchBody {
  Body: readonly { readonly path: string }[];
}

const body = {
  type: 'array',
  maxItems: 100,
  items: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/**
 * The fastest form by hand: `begin`, the calls and `commit` are sent at once over a client in pipeline mode. An error ends the
 * transaction, and `commit` then rolls it back.
 */
export async function startFastifyBatch(settings: ContenderSettings): Promise<ListeningServer> {
  const { nextClient, close } = await openPipelines(settings);
  const app = fastify({ logger: false });
  app.post<BatchBody>('/api/bench/batch', { schema: { body } }, async (request, reply) => {
    const statements = parseBatch(request.body).map(toStatement);
    const client = nextClient();
    const [, results] = await Promise.all([
      client.query('begin'),
      Promise.all(statements.map((statement) => client.query(statement))),
      client.query('commit'),
    ]);
    return reply.send(results.map(({ rows }, index) => ({ status: 200, body: toBody(statements[index]!, rows) })));
  });
  return listen(app, close);
}

function toStatement({ routine, values }: ReturnType<typeof parseBatch>[number]): pg.QueryConfig {
  const isScalar = routine !== 'items';
  const text = isScalar ? `select bench.${routine}($1, $2) as result` : 'select * from bench.items($1)';
  return { name: routine, text, values: [...values] };
}

function toBody({ name }: pg.QueryConfig, rows: readonly { readonly result?: unknown }[]): unknown {
  return name === 'items' ? rows : rows[0]?.result;
}
