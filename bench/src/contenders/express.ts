import express from 'express';
import pg from 'pg';

import type { ListeningServer, ContenderSettings } from './contender.ts';
import { listenOnFreePort } from './listen.ts';

/** The handlers of `fastify.ts` for Express: parameters validated by hand, responses sent with `response.json`. */
export async function startExpress(settings: ContenderSettings): Promise<ListeningServer> {
  const pool = new pg.Pool({ connectionString: settings.connectionString, max: settings.pool });
  const app = express();

  for (const routine of ['add', 'plus']) {
    app.get(`/api/bench/${routine}`, async (request, response) => {
      const a = parseInteger(request.query['a']);
      const b = parseInteger(request.query['b']);
      if (a === null || b === null) {
        response.status(400).json({ error: 'a and b must be integers' });
        return;
      }
      const text = `select bench.${routine}($1, $2) as result`;
      const { rows } = await pool.query<{ result: number }>({ name: routine, text, values: [a, b] });
      response.json(rows[0]?.result);
    });
  }

  for (const routine of ['items', 'typed']) {
    app.get(`/api/bench/${routine}`, async (request, response) => {
      const lim = parseInteger(request.query['lim']);
      if (lim === null) {
        response.status(400).json({ error: 'lim must be an integer' });
        return;
      }
      const { rows } = await pool.query({ name: routine, text: `select * from bench.${routine}($1)`, values: [lim] });
      response.json(rows);
    });
  }

  return listenOnFreePort(app, () => pool.end());
}

function parseInteger(text: unknown): number | null {
  const value = typeof text === 'string' && text !== '' ? Number(text) : Number.NaN;
  return Number.isInteger(value) ? value : null;
}
