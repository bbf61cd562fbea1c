import { type ContenderName, type ContenderSettings, contenderTitles } from './contenders/contender.ts';
import { pipelineTitle, type SelectScript, selectPipeline } from './pgbench.ts';
import { batchWorks } from './works/batch-works.ts';
import { cacheWorks } from './works/cache-works.ts';
import { keySchemaSql, keyWorks } from './works/key-works.ts';
import { mcpWorks } from './works/mcp-works.ts';
import { relatedStatements } from './works/related-statements.ts';
import { relatedSchemaSql, relatedWorks } from './works/related-works.ts';
import { routineWorks } from './works/routine-works.ts';
import { tableWorks } from './works/table-works.ts';
import type { Work } from './works/work.ts';

/** Works, and the competitors that do them in the same rounds. */
export interface Suite {
  readonly title: string;
  readonly works: readonly Work[];
  readonly contenders: readonly ContenderName[];
  /** The contender whose requests per second are 1. */
  readonly baseline: ContenderName;
  /** A name for the baseline in headings. */
  readonly against: string;
  /** Other servers and pgbench compete. */
  readonly isOpen: boolean;
  /** The servers of `bench/peers` compete. Absent: they do not. */
  readonly hasRivals?: true;
  /** The long response is measured too. */
  readonly hasStream: boolean;
  /** Statements that create what only this suite needs; null if the common tables and functions are enough. */
  readonly schemaSql: string | null;
  /** Further statements for the same responses, which pgbench runs by these titles. Absent: none. */
  readonly statements?: (settings: ContenderSettings) => Promise<ReadonlyMap<string, SelectScript>>;
}

export const routineSuite: Suite = {
  title: 'Functions',
  works: routineWorks,
  contenders: [
    'pgway',
    'pgway-generic',
    'pgway-unshared',
    'server',
    'server-one',
    'server-node',
    'fastify',
    'fastify-json',
    'express',
  ],
  baseline: 'fastify',
  against: 'hand-written Fastify',
  isOpen: true,
  hasStream: true,
  schemaSql: null,
};

export const rivalSuite: Suite = {
  title: 'Rivals',
  works: routineWorks.map((work) => ({ ...work, goal: null })),
  contenders: ['pgway', 'server-one', 'fastify', 'fastify-json'],
  baseline: 'fastify',
  against: 'hand-written Fastify',
  isOpen: true,
  hasRivals: true,
  hasStream: false,
  schemaSql: null,
  statements: async () => new Map([[pipelineTitle, selectPipeline]]),
};

export const cacheSuite: Suite = {
  title: 'Cached responses',
  works: cacheWorks,
  contenders: ['pgway-cached', 'bare'],
  baseline: 'bare',
  against: 'a node:http handler that sends the same bytes',
  isOpen: false,
  hasStream: false,
  schemaSql: null,
};

export const tableSuite: Suite = {
  title: 'Tables',
  works: tableWorks,
  contenders: ['pgway-tables', 'fastify-tables'],
  baseline: 'fastify-tables',
  against: 'hand-written Fastify',
  isOpen: false,
  hasStream: false,
  schemaSql: null,
};

export const batchSuite: Suite = {
  title: 'Batches',
  works: batchWorks,
  contenders: ['pgway-batch', 'pgway', 'fastify-batch', 'fastify'],
  baseline: 'pgway',
  against: 'single requests',
  isOpen: false,
  hasStream: false,
  schemaSql: null,
};

export const relatedSuite: Suite = {
  title: 'Related rows',
  works: relatedWorks,
  contenders: ['pgway-related', 'pgway-related-function', 'fastify-related', 'fastify-related-json'],
  baseline: 'fastify-related',
  against: 'a join grouped in JavaScript',
  isOpen: true,
  hasStream: false,
  schemaSql: relatedSchemaSql,
  statements: relatedStatements,
};

export const keySuite: Suite = {
  title: 'Idempotency keys',
  works: keyWorks,
  contenders: ['pgway', 'pgway-key'],
  baseline: 'pgway',
  against: 'requests without a key',
  isOpen: false,
  hasStream: false,
  schemaSql: keySchemaSql,
};

export const mcpSuite: Suite = {
  title: 'Tool calls (MCP)',
  works: mcpWorks,
  contenders: ['server-one', 'server-mcp'],
  baseline: 'server-one',
  against: 'the endpoint',
  isOpen: false,
  hasStream: false,
  schemaSql: null,
};

export const telemetrySuite: Suite = {
  title: 'Access log, metrics and traces',
  works: routineWorks
    .filter(({ name }) => ['scalar', 'rows-1'].includes(name))
    .map((work) => ({ ...work, goal: null })),
  contenders: ['server-quiet', 'server-one', 'server-pretty', 'server-metrics', 'server-traces'],
  baseline: 'server-quiet',
  against: 'the server without them',
  isOpen: false,
  hasStream: false,
  schemaSql: null,
};

export function baselineTitle(suite: Suite): string {
  return contenderTitles[suite.baseline];
}
