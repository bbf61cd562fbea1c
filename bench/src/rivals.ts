import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { contenderTitles } from './contenders/contender.ts';
import type { Peer } from './peer.ts';

/** A server by hand, whose sources and script `build` are in `bench/peers/<folder>`. */
interface Rival {
  readonly folder: string;
  readonly title: string;
  /** The program in the folder `bench`. */
  readonly program: string;
  /** The forms by their name in `--only`. */
  readonly forms: Readonly<Record<string, RivalForm>>;
}

interface RivalForm {
  readonly title: string;
  readonly args: string;
}

const bun = 'peers/bun/node_modules/.bin/bun peers/bun/server.js';
const rowForms = (name: string): Rival['forms'] => ({
  [name]: { title: 'rows', args: 'rows' },
  [`${name}-json`]: { title: 'json_agg', args: 'json' },
});

const rivals: readonly Rival[] = [
  { folder: 'bun', title: 'Bun', program: bun, forms: rowForms('bun') },
  {
    folder: 'rust',
    title: 'Rust, hyper + tokio-postgres pipelines',
    program: 'dist/peers/rust',
    forms: rowForms('rust'),
  },
  {
    folder: 'go',
    title: 'Go, pgx',
    program: 'dist/peers/go',
    forms: {
      go: { title: 'net/http, structs', args: 'structs' },
      'go-json': { title: 'net/http, json_agg', args: 'json' },
      'go-fasthttp': { title: 'fasthttp, structs', args: 'structs fasthttp' },
      'go-fasthttp-json': { title: 'fasthttp, json_agg', args: 'json fasthttp' },
    },
  },
  {
    folder: 'postgresjs',
    title: 'node:http + postgres.js',
    program: `'${process.execPath}' peers/postgresjs/server.js`,
    forms: rowForms('postgresjs'),
  },
];

const benchFolder = fileURLToPath(new URL('../', import.meta.url));

/** Names for `--only`. */
export const rivalNames: readonly string[] = rivals.flatMap(({ forms }) => Object.keys(forms));

export interface BuiltRivals {
  readonly peers: readonly Peer[];
  /** The rivals that could not be built, with the reason. */
  readonly missing: readonly string[];
}

/** Builds the selected rivals. */
export function buildRivals(has: (name: string) => boolean): BuiltRivals {
  const peers: Peer[] = [];
  const missing: string[] = [];
  for (const { folder, title, program, forms } of rivals) {
    const selected = Object.entries(forms).filter(([name]) => has(name));
    if (selected.length === 0) continue;
    const reason = buildRival(folder);
    if (reason === null) peers.push(...selected.map(([, form]) => formPeer(title, program, form)));
    else missing.push(`${title}: ${reason}`);
  }
  return { peers, missing };
}

/** Returns null, or the reason for which the rival cannot run. */
function buildRival(folder: string): string | null {
  const { status, error, stderr } = spawnSync('sh', [`${benchFolder}peers/${folder}/build`], { encoding: 'utf8' });
  if (status === 0) return null;
  const lines = (error?.message ?? stderr).trim().split('\n');
  return lines.at(-1)!;
}

function formPeer(title: string, program: string, { title: form, args }: RivalForm): Peer {
  return {
    name: `${title}, ${form}`,
    basePath: '/api/bench',
    command: `cd '${benchFolder}' && NODE_ENV=production exec ${program} ${args}`,
  };
}

const fastifyForms: readonly string[] = [contenderTitles.fastify, contenderTitles['fastify-json']];

/** Returns the title of the rival of which the competitor is a form; null for other competitors. */
export function rivalOf(competitor: string): string | null {
  if (fastifyForms.includes(competitor)) return 'Fastify';
  const rival = rivals.find(({ title, forms }) =>
    Object.values(forms).some((form) => competitor === `${title}, ${form.title}`),
  );
  return rival?.title ?? null;
}
