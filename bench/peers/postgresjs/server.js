/**
 * A peer of the bench: `node:http` and postgres.js, which sends statements in pipelines by itself.
 *
 * The first argument selects how rows become JSON: "rows" sends the objects of the driver, "json" lets PostgreSQL make the JSON and sends
 * it as it is.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL, { max: Number(process.env.POOL) });

function integer(query, name) {
  const text = query.get(name);
  return text !== null && /^-?\d{1,10}$/.test(text) ? Number(text) : null;
}

const sum = (call) => async (query) => {
  const a = integer(query, 'a');
  const b = integer(query, 'b');
  if (a === null || b === null) return null;
  const [row] = await call(a, b);
  return JSON.stringify(row.result);
};

const list = (call, write) => async (query) => {
  const lim = integer(query, 'lim');
  return lim === null ? null : write(await call(lim));
};

const asRows = (rows) => JSON.stringify(rows);
const asJson = ([row]) => row.json;

async function visit(query, request) {
  const { id } = await json(request);
  if (request.method !== 'POST' || !Number.isInteger(id)) return null;
  const [row] = await sql`select bench.visit(${id}) as result`;
  return JSON.stringify(row.result);
}

const lists =
  process.argv[2] === 'json'
    ? {
        items: list((lim) => sql`select coalesce(json_agg(t), '[]')::text as json from bench.items(${lim}) t`, asJson),
        typed: list((lim) => sql`select coalesce(json_agg(t), '[]')::text as json from bench.typed(${lim}) t`, asJson),
      }
    : {
        items: list((lim) => sql`select * from bench.items(${lim})`, asRows),
        typed: list((lim) => sql`select * from bench.typed(${lim})`, asRows),
      };

const endpoints = new Map([
  ['/api/bench/add', sum((a, b) => sql`select bench.add(${a}, ${b}) as result`)],
  ['/api/bench/plus', sum((a, b) => sql`select bench.plus(${a}, ${b}) as result`)],
  ['/api/bench/visit', visit],
  ['/api/bench/items', lists.items],
  ['/api/bench/typed', lists.typed],
]);

function send(response, status, type, body) {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

createServer((request, response) => {
  const start = request.url.indexOf('?');
  const path = start < 0 ? request.url : request.url.slice(0, start);
  const endpoint = endpoints.get(path);
  if (endpoint === undefined) {
    send(response, 404, 'text/plain', 'not found');
    return;
  }
  endpoint(new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1)), request).then(
    (body) => {
      if (body === null) send(response, 400, 'text/plain', 'the parameters must be integers');
      else send(response, 200, 'application/json', body);
    },
    (error) => {
      console.error(error);
      send(response, 500, 'text/plain', 'the database failed');
    },
  );
}).listen(Number(process.env.PORT), '127.0.0.1');
