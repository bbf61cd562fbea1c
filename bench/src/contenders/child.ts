/** The entry point of a contender's process: starts a contender, then measures its CPU and memory on request. */
import type {
  ContenderResponses,
  ContenderName,
  ListeningServer,
  ContenderRequest,
  ContenderSettings,
} from './contender.ts';
import { stackOf } from '../stack-of.ts';

type Start = (settings: ContenderSettings) => Promise<ListeningServer>;

// Imported on demand, so that the memory of a contender has no modules of another one.
const starts: Readonly<Partial<Record<ContenderName, Start>>> = {
  pgway: async (settings) => (await import('./pgway.ts')).startPgway(settings),
  'pgway-generic': async (settings) =>
    (await import('./pgway.ts')).startPgway(settings, { planCacheMode: 'force_generic_plan' }),
  'pgway-unshared': async (settings) => (await import('./pgway.ts')).startPgway(settings, { shareConnections: false }),
  'pgway-cached': async (settings) => (await import('./pgway.ts')).startPgwayCached(settings),
  'pgway-tables': async (settings) => (await import('./pgway.ts')).startPgwayTables(settings),
  bare: async (settings) => (await import('./bare.ts')).startBare(settings),
  fastify: async (settings) => (await import('./fastify.ts')).startFastify(settings),
  'fastify-json': async (settings) => (await import('./fastify.ts')).startFastifyJson(settings),
  'fastify-tables': async (settings) => (await import('./fastify-tables.ts')).startFastifyTables(settings),
  'pgway-batch': async (settings) =>
    (await import('./pgway.ts')).startPgway(settings, { batchPath: '/api/bench/batch' }),
  'fastify-batch': async (settings) => (await import('./fastify-batch.ts')).startFastifyBatch(settings),
  'pgway-related': async (settings) => (await import('./pgway.ts')).startPgwayRelated(settings),
  'pgway-related-function': async (settings) => (await import('./pgway.ts')).startPgway(settings),
  'fastify-related': async (settings) => (await import('./fastify-related.ts')).startFastifyRelated(settings),
  'fastify-related-json': async (settings) => (await import('./fastify-related.ts')).startFastifyRelatedJson(settings),
  'pgway-key': async (settings) => (await import('./pgway.ts')).startPgway(settings),
  express: async (settings) => (await import('./express.ts')).startExpress(settings),
};

const memorySampleMs = 10;
const closeTimeoutMs = 3000;
let listening: ListeningServer | null = null;
let peak = 0;
let watch: NodeJS.Timeout | null = null;

function samplePeak(): number {
  peak = Math.max(peak, process.memoryUsage.rss());
  return peak;
}

async function handleRequest(request: ContenderRequest): Promise<ContenderResponses[ContenderRequest['kind']]> {
  switch (request.kind) {
    case 'start': {
      const start = starts[request.name];
      if (start === undefined) throw new Error(`${request.name} is a program of its own`);
      listening = await start(request.settings);
      return { port: listening.port };
    }
    case 'usage': {
      const { user, system } = process.cpuUsage();
      return { cpu: user + system, rss: process.memoryUsage.rss() };
    }
    case 'watch-memory':
      if (watch !== null) clearInterval(watch);
      watch = setInterval(samplePeak, memorySampleMs);
      peak = 0;
      return { rss: samplePeak() };
    case 'peak-memory':
      return { rss: samplePeak() };
  }
}

async function stop(): Promise<void> {
  // A contender that cannot close its connections must not outlive the bench.
  setTimeout(() => process.exit(1), closeTimeoutMs).unref();
  await listening?.close();
  process.exit();
}

process.on('message', (request: ContenderRequest) => {
  handleRequest(request).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: stackOf(error) }),
  );
});
// The bench stops its children by disconnecting, which also works when the bench was killed. Ctrl+C reaches the whole process
// group; the bench handles it.
process.once('disconnect', () => void stop());
process.on('SIGINT', () => {});
