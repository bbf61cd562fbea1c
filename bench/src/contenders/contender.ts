/** What a contender is given, in its own process. */
export interface Settings {
  readonly connectionString: string;
  readonly pool: number;
}

/** A contender that listens on 127.0.0.1. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export const contenderNames = [
  'pgway',
  'pgway-generic',
  'pgway-unshared',
  'pgway-table',
  'pgway-kept',
  'pgway-unchanged',
  'fastify',
  'express',
] as const;

export type ContenderName = (typeof contenderNames)[number];

/** How the table calls them. */
export const contenderTitles: Readonly<Record<ContenderName, string>> = {
  pgway: 'pgway',
  'pgway-generic': 'pgway (generic plans)',
  'pgway-unshared': 'pgway (one call a connection)',
  'pgway-table': 'pgway (the rows of a table)',
  'pgway-kept': 'pgway (an answer that is kept)',
  'pgway-unchanged': 'pgway (304, the client has it)',
  fastify: 'Fastify 5 + pg, by hand',
  express: 'Express 5 + pg, by hand',
};

/** Work that a contender alone does; the others do all of it. */
export const onlyWork: Readonly<Partial<Record<ContenderName, readonly string[]>>> = {
  'pgway-table': ['rows-100'],
  'pgway-kept': ['rows-1'],
  'pgway-unchanged': ['rows-1'],
};

/** Headers of the requests of a contender. */
export const requestHeaders: Readonly<Partial<Record<ContenderName, Readonly<Record<string, string>>>>> = {
  'pgway-unchanged': { 'if-none-match': '*' },
};

/** What the bench asks a contender's process, one question at a time, and what it answers. */
export type Question =
  | { readonly ask: 'start'; readonly name: ContenderName; readonly settings: Settings }
  | { readonly ask: Probe };

/** CPU and memory until now; start to watch for the peak of memory; the peak since then. */
export type Probe = 'usage' | 'watch-memory' | 'peak-memory';

export interface Usage {
  /** Microseconds of CPU, user and system, since the process started. */
  readonly cpu: number;
  /** Resident bytes now. */
  readonly rss: number;
}

export interface Answers {
  readonly start: { readonly port: number };
  readonly usage: Usage;
  readonly 'watch-memory': { readonly rss: number };
  readonly 'peak-memory': { readonly rss: number };
}
