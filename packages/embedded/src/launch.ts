import { setTimeout as delay } from 'node:timers/promises';
import { PostgresServerError } from './embedded-error.ts';
import { findFreePort } from './free-port.ts';
import { type ServerOrder, type ServerProcess, startProcess } from './server-process.ts';

export interface LaunchRequest extends ServerOrder {
  readonly report: (message: string) => void;
  /** Gives the port to try. Default: one that is free at the moment. */
  readonly nextPort?: () => Promise<number>;
}

export interface Launched {
  readonly server: ServerProcess;
  readonly port: number;
}

const PORT_ATTEMPTS = 20;
/** How long workers of a server that was killed may take to notice. */
const LEFTOVER_PATIENCE = 10_000;
const REPORT_EVERY = 5_000;

/**
 * Starts the server on a free port and waits until it takes connections, however long its recovery lasts. Tries again with
 * another port when somebody was faster, and when workers of a killed server still hold its shared memory.
 */
export async function launch(request: LaunchRequest): Promise<Launched> {
  const { report, binaries, settings, nextPort = findFreePort } = request;
  const patience = performance.now() + LEFTOVER_PATIENCE;
  let portsTaken = 0;
  for (;;) {
    const port = await nextPort();
    report(`starting PostgreSQL ${binaries.version} on port ${String(port)}`);
    const server = await startProcess({ ...request, settings: [...settings, `port=${String(port)}`] });
    if (await becomesReady(server, report)) return { server, port };
    const log = server.log();
    if (says(log, /could not bind .*address already in use|could not create any TCP\/IP sockets/i)) {
      portsTaken++;
      if (portsTaken < PORT_ATTEMPTS) continue;
    } else if (says(log, /pre-existing shared memory block/) && performance.now() < patience) {
      await delay(100);
      continue;
    }
    throw new PostgresServerError(
      `PostgreSQL did not start: ${reasonIn(log)}; see to that, or choose another data directory`,
      { log },
    );
  }
}

async function becomesReady(server: ServerProcess, report: (message: string) => void): Promise<boolean> {
  let nextReport = performance.now() + REPORT_EVERY;
  try {
    while (!(await server.ready())) {
      if (server.ended()) return false;
      if (performance.now() > nextReport) {
        report(`PostgreSQL is still starting: ${server.log().at(-1) ?? 'no word from it yet'}`);
        nextReport += REPORT_EVERY;
      }
      await delay(10);
    }
    return true;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function says(log: readonly string[], pattern: RegExp): boolean {
  return log.some((line) => pattern.test(line));
}

/** The last fatal line with its hint or detail, without the time and process id in front. */
function reasonIn(log: readonly string[]): string {
  const worst = log.findLastIndex((line) => /\b(FATAL|PANIC):/.test(line));
  const after = log.slice(worst + 1);
  const hint = after.find((line) => /\bHINT:/.test(line)) ?? after.find((line) => /\bDETAIL:/.test(line));
  const lines = [worst === -1 ? log.at(-1) : log[worst], worst === -1 ? undefined : hint];
  const told = lines
    .filter((line) => line !== undefined)
    .map((line) => line.replace(/^.*?\b(FATAL|PANIC|HINT|DETAIL):\s*/, ''));
  return told.join(' ').replace(/\.$/, '') || 'it ended without a word';
}
