/**
 * A peer of the bench: `Bun.serve` and `Bun.SQL`.
 *
 * The first argument selects how rows become JSON: "rows" sends the objects of the driver, "json" lets PostgreSQL make the JSON and sends
 * it as it is.
 */
const sql = new Bun.SQL(process.env.DATABASE_URL, { max: Number(process.env.POOL) });

const jsonHeaders = { headers: { 'content-type': 'application/json' } };

/** Returns an integer of the query string; null for anything else. */
function integer(url, name) {
  const start = url.indexOf(`${name}=`, url.indexOf('?'));
  if (start < 0) return null;
  const end = url.indexOf('&', start);
  const text = url.slice(start + name.length + 1, end < 0 ? undefined : end);
  return /^-?\d{1,10}$/.test(text) ? Number(text) : null;
}

const badRequest = () => new Response('the parameters must be integers', { status: 400 });

const sum = (query) => async (request) => {
  const a = integer(request.url, 'a');
  const b = integer(request.url, 'b');
  if (a === null || b === null) return badRequest();
  const [row] = await query(a, b);
  return Response.json(row.result);
};

const list = (query, respond) => async (request) => {
  const lim = integer(request.url, 'lim');
  return lim === null ? badRequest() : respond(await query(lim));
};

const asRows = (rows) => Response.json(rows);
const asJson = ([row]) => new Response(row.json, jsonHeaders);

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

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  routes: {
    '/api/bench/add': sum((a, b) => sql`select bench.add(${a}, ${b}) as result`),
    '/api/bench/plus': sum((a, b) => sql`select bench.plus(${a}, ${b}) as result`),
    '/api/bench/items': lists.items,
    '/api/bench/typed': lists.typed,
    '/api/bench/visit': {
      async POST(request) {
        const { id } = await request.json();
        if (!Number.isInteger(id)) return badRequest();
        const [row] = await sql`select bench.visit(${id}) as result`;
        return Response.json(row.result);
      },
    },
  },
});
