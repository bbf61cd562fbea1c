import express from 'express';
import pg from 'pg';

import type { Listening, Settings } from './contender.ts';
import { listen } from './listen.ts';

/** The same handlers as for Fastify, in Express's way: checked by hand, answered with `response.json`. */
export async function startExpress(settings: Settings): Promise<Listening> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = express();

  app.get('/api/bench/add', async (request, response) => {
    const a = integer(request.query['a']);
    const b = integer(request.query['b']);
    if (a === null || b === null) {
      response.status(400).json({ error: 'a and b must be integers' });
      return;
    }
    const { rows } = await pool.query<{ sum: number }>({
      name: 'add',
      text: 'select bench.add($1, $2) as sum',
      values: [a, b],
    });
    response.json(rows[0]?.sum);
  });

  app.get('/api/bench/items', async (request, response) => {
    const lim = integer(request.query['lim']);
    if (lim === null) {
      response.status(400).json({ error: 'lim must be an integer' });
      return;
    }
    const { rows } = await pool.query({ name: 'items', text: 'select * from bench.items($1)', values: [lim] });
    response.json(rows);
  });

  return listen(app, () => pool.end());
}

function integer(given: unknown): number | null {
  const value = typeof given === 'string' && given !== '' ? Number(given) : Number.NaN;
  return Number.isInteger(value) ? value : null;
}
