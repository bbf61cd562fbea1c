/** The settings that the process of a contender receives. */
export interface ContenderSettings {
  readonly connectionString: string;
  readonly pool: number;
}

/** A contender that listens on 127.0.0.1, in the process of the contender. */
export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

export const contenderNames = [
  'pgway',
  'pgway-generic',
  'pgway-unshared',
  'server',
  'server-one',
  'server-quiet',
  'server-node',
  'server-pretty',
  'server-metrics',
  'server-traces',
  'fastify',
  'fastify-json',
  'express',
  'pgway-cached',
  'bare',
  'pgway-tables',
  'fastify-tables',
  'pgway-batch',
  'fastify-batch',
  'pgway-related',
  'pgway-related-function',
  'fastify-related',
  'fastify-related-json',
  'pgway-key',
  'server-mcp',
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** Names in the table of results. */
export const contenderTitles: Readonly<Record<ContenderName, string>> = {
  pgway: 'pgway',
  'pgway-generic': 'pgway (generic plans)',
  'pgway-unshared': 'pgway (one call per connection)',
  server: 'pgway, standalone server, one process per core',
  'server-one': 'pgway, standalone server, one process',
  'server-quiet': 'pgway, standalone server, one process, no access log',
  'server-node': 'pgway, standalone server, one process, node:http',
  'server-pretty': 'pgway, standalone server, one process, access log for readers',
  'server-metrics': 'pgway, standalone server, one process, metrics, no access log',
  'server-traces': 'pgway, standalone server, one process, traces of all requests, no access log',
  fastify: 'Fastify 5 + pg, hand-written',
  'fastify-json': 'Fastify 5 + pg pipelines + json_agg, hand-written',
  express: 'Express 5 + pg, hand-written',
  'pgway-cached': 'pgway',
  bare: 'node:http, the same bytes from memory',
  'pgway-tables': 'pgway',
  'fastify-tables': 'Fastify 5 + pg, hand-written',
  'pgway-batch': 'pgway, batches of ten',
  'fastify-batch': 'Fastify 5 + pg pipelines, transactions of ten, hand-written',
  'pgway-related': 'pgway, dialect of PostgREST',
  'pgway-related-function': 'pgway, a function with the statement by hand',
  'fastify-related': 'Fastify 5 + pg, a join grouped in JavaScript, hand-written',
  'fastify-related-json': 'Fastify 5 + pg pipelines + json_agg, hand-written',
  'pgway-key': 'pgway, a new key in each request',
  'server-mcp': 'pgway, standalone server, one process, MCP',
};

/** The works of contenders that do not run all of them. */
export const onlyWork: Readonly<Partial<Record<ContenderName, readonly string[]>>> = {
  'pgway-unshared': ['scalar', 'rows-10'],
  express: ['scalar', 'rows-10', 'rows-100'],
};

/** Is replaced by the option with a collector of the bench, which takes all traces. */
export const collectorOption = '--tracing.endpoint=collector';

const quiet = ['--workers=1', '--log.levels={"access":"silent"}'];

/** The contenders that are the standalone server, with its options. `auto` is the default in production. */
export const serverOptions: Readonly<Partial<Record<ContenderName, readonly string[]>>> = {
  server: ['--workers=auto'],
  'server-one': ['--workers=1'],
  'server-quiet': quiet,
  'server-node': ['--workers=1', '--fastPath=false'],
  'server-pretty': ['--workers=1', '--log.format=pretty'],
  'server-metrics': [...quiet, '--metrics.path=/metrics'],
  'server-traces': [...quiet, collectorOption],
  'server-mcp': ['--workers=1', '--mcp.path=/api/bench/mcp', '--mcp.include=readOnly'],
};

/** A message to the process of a contender, which handles one at a time. */
export type ContenderRequest =
  | { readonly kind: 'start'; readonly name: ContenderName; readonly settings: ContenderSettings }
  | { readonly kind: Probe };

/** Measures CPU and memory, starts to track the peak memory, or returns the peak since then. */
export type Probe = 'usage' | 'watch-memory' | 'peak-memory';

export interface ResourceUsage {
  /** Microseconds of CPU, user and system, since the process started. */
  readonly cpu: number;
  /** Resident bytes now. */
  readonly rss: number;
}

export interface ContenderResponses {
  readonly start: { readonly port: number };
  readonly usage: ResourceUsage;
  readonly 'watch-memory': { readonly rss: number };
  readonly 'peak-memory': { readonly rss: number };
}
