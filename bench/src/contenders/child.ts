/** The entry point of a contender's process: starts a contender, then measures its CPU and memory on request. */
import type {
  ContenderResponses,
  ContenderName,
  ListeningServer,
  ContenderRequest,
  ContenderSettings,
} from './contender.ts';

type Start = (settings: ContenderSettings) => Promise<ListeningServer>;

// Imported on demand, so that the memory of a contender has no modules of another one.
const starts: Readonly<Record<ContenderName, Start>> = {
  pgway: async (settings) => (await import('./pgway.ts')).startPgway(settings),
  'pgway-generic': async (settings) =>
    (await import('./pgway.ts')).startPgway(settings, { planCacheMode: 'force_generic_plan' }),
  'pgway-unshared': async (settings) => (await import('./pgway.ts')).startPgway(settings, { shareConnections: false }),
  'pgway-table': async (settings) => (await import('./pgway.ts')).startPgwayTable(settings),
  'pgway-cached': async (settings) => (await import('./pgway.ts')).startPgwayCached(settings),
  'pgway-not-modified': async (settings) => (await import('./pgway.ts')).startPgwayCached(settings),
  server: async (settings) => (await import('./server.ts')).startServer(settings),
  'server-quiet': async (settings) =>
    (await import('./server.ts')).startServer(settings, ['--log.access.enabled=false']),
  fastify: async (settings) => (await import('./fastify.ts')).startFastify(settings),
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
    case 'start':
      listening = await starts[request.name](request.settings);
      return { port: listening.port };
    case 'usage': {
      if (listening?.usage !== undefined) return listening.usage();
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
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// The bench stops its children by disconnecting, which also works when the bench was killed. Ctrl+C reaches the whole process
// group; the bench handles it.
process.once('disconnect', () => void stop());
process.on('SIGINT', () => {});
