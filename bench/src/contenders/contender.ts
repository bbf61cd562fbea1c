/** The settings that the process of a contender receives. */
export interface ContenderSettings {
  readonly connectionString: string;
  readonly pool: number;
}

/** A contender that listens on 127.0.0.1. */
export interface ListeningServer {
  readonly port: number;
  /** Absent: the server runs in the process of the contender. */
  usage?(): ResourceUsage;
  close(): Promise<void>;
}

export const contenderNames = [
  'pgway',
  'pgway-generic',
  'pgway-unshared',
  'pgway-table',
  'pgway-cached',
  'pgway-not-modified',
  'server',
  'server-quiet',
  'fastify',
  'express',
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** Names in the table of results. */
export const contenderTitles: Readonly<Record<ContenderName, string>> = {
  pgway: 'pgway',
  'pgway-generic': 'pgway (generic plans)',
  'pgway-unshared': 'pgway (one call per connection)',
  'pgway-table': 'pgway (table endpoint)',
  'pgway-cached': 'pgway (cached response)',
  'pgway-not-modified': 'pgway (304 Not Modified)',
  server: 'pgway, standalone server',
  'server-quiet': 'pgway, standalone server without access log',
  fastify: 'Fastify 5 + pg, hand-written',
  express: 'Express 5 + pg, hand-written',
};

/** The works of contenders that do not run all of them. */
export const onlyWork: Readonly<Partial<Record<ContenderName, readonly string[]>>> = {
  'pgway-table': ['rows-100'],
  'pgway-cached': ['rows-1'],
  'pgway-not-modified': ['rows-1'],
  server: ['scalar', 'rows-1', 'rows-10'],
  'server-quiet': ['rows-1'],
};

/** Headers of the requests of a contender. */
export const contenderHeaders: Readonly<Partial<Record<ContenderName, Readonly<Record<string, string>>>>> = {
  'pgway-not-modified': { 'if-none-match': '*' },
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
