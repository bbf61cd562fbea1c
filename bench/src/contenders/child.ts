/** The entry of a contender's process: starts the one it is told, then answers questions about its own CPU and memory. */
import type { Answers, ContenderName, Listening, Question, Settings } from './contender.ts';

type Start = (settings: Settings) => Promise<Listening>;

// Loaded on demand, so that no contender carries the memory of another's modules.
const starts: Readonly<Record<ContenderName, Start>> = {
  pgway: async (settings) => (await import('./pgway.ts')).startPgway(settings),
  'pgway-generic': async (settings) =>
    (await import('./pgway.ts')).startPgway(settings, { planCacheMode: 'force_generic_plan' }),
  'pgway-unshared': async (settings) => (await import('./pgway.ts')).startPgway(settings, { shareConnections: false }),
  'pgway-table': async (settings) => (await import('./pgway.ts')).startPgwayTable(settings),
  'pgway-kept': async (settings) => (await import('./pgway.ts')).startPgwayKept(settings),
  'pgway-unchanged': async (settings) => (await import('./pgway.ts')).startPgwayKept(settings),
  fastify: async (settings) => (await import('./fastify.ts')).startFastify(settings),
  express: async (settings) => (await import('./express.ts')).startExpress(settings),
};

const memorySampleMilliseconds = 10;
const closeDeadlineMilliseconds = 3000;
let listening: Listening | null = null;
let peak = 0;
let watch: NodeJS.Timeout | null = null;

function samplePeak(): number {
  peak = Math.max(peak, process.memoryUsage.rss());
  return peak;
}

async function answer(question: Question): Promise<Answers[Question['ask']]> {
  switch (question.ask) {
    case 'start':
      listening = await starts[question.name](question.settings);
      return { port: listening.port };
    case 'usage': {
      const { user, system } = process.cpuUsage();
      return { cpu: user + system, rss: process.memoryUsage.rss() };
    }
    case 'watch-memory':
      if (watch !== null) clearInterval(watch);
      watch = setInterval(samplePeak, memorySampleMilliseconds);
      peak = 0;
      return { rss: samplePeak() };
    case 'peak-memory':
      return { rss: samplePeak() };
  }
}

async function stop(): Promise<void> {
  // A contender that cannot let go of its connections must not outlive the bench.
  setTimeout(() => process.exit(1), closeDeadlineMilliseconds).unref();
  await listening?.close();
  process.exit();
}

process.on('message', (question: Question) => {
  answer(question).then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// The bench ends its children by hanging up: that also works when the bench itself is gone. Ctrl-C goes to the whole
// group of processes, and the bench decides what it means.
process.once('disconnect', () => void stop());
process.on('SIGINT', () => {});
