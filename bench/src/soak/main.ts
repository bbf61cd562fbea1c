/** Runs a mixed load against the gateway and verifies its guarantees: `npm run soak`. */
import { pgbouncerVersion } from '@pgway/testing/pgbouncer';

import { runAudit } from './audit/audit.ts';
import { startServer } from './database.ts';
import { runChangesSoak } from './changes/changes-soak.ts';
import {
  type ChangesSoakOptions,
  type DatabaseRoute,
  readChangesSoakOptions,
  readSoakOptions,
  type SoakOptions,
  soakUsage,
} from './options.ts';
import { UsageError } from '../arguments.ts';
import { checkGuarantees, type RouteCheck, writeTable, writeVerdict } from './report.ts';
import { formatCount } from './observe.ts';
import { type SoakResult, runRoute } from './run-route.ts';
import { stackOf } from '../stack-of.ts';

/** Starts and final checks of all routes, beyond the seconds of load. */
const graceSeconds = 300;
/** The shares of the requests when both routes run. */
const shares: Readonly<Record<DatabaseRoute, number>> = { direct: 0.75, pgbouncer: 0.25 };
/** The writes and the seconds of the audit, as a part of the requests and seconds of the load. */
const auditShare = { writes: 0.25, seconds: 0.6 };

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function soak(options: SoakOptions, signal: AbortSignal): Promise<boolean> {
  const present = (await pgbouncerVersion()) !== null;
  const routes = options.routes.filter((route) => present || route !== 'pgbouncer');
  const skipped = options.routes.filter((route) => !routes.includes(route));
  if (skipped.length > 0) print('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');
  const server = await startServer(options.postgres);
  const results: SoakResult[] = [];
  const audits: RouteCheck[] = [];
  try {
    print(`PostgreSQL ${server.version}, ${formatCount(options.requests)} requests, --seed=${options.seed}`);
    for (const route of routes) {
      const share = routes.length === 1 ? 1 : shares[route];
      const bounds = { requests: options.requests * share, seconds: options.seconds * share, signal, report: print };
      const auditBounds = {
        ...bounds,
        requests: bounds.requests * auditShare.writes,
        seconds: bounds.seconds * auditShare.seconds,
      };
      if (options.hasLoad) results.push(await runRoute(route, server, options, bounds));
      audits.push(...(await runAudit(route, server, options, auditBounds)));
    }
  } finally {
    await server.stop();
  }
  for (const result of results) print(`\n${writeTable(result)}`);
  const checks = [...results.flatMap(checkGuarantees), ...audits];
  print(`\n${writeVerdict(checks, results, skipped)}`);
  return checks.length > 0 && checks.every(({ times }) => times === 0);
}

async function soakChanges({ seconds, postgres, seed }: ChangesSoakOptions, signal: AbortSignal): Promise<boolean> {
  const server = await startServer(postgres);
  try {
    print(`PostgreSQL ${server.version}, ${seconds} seconds, --seed=${seed}`);
    const checks = await runChangesSoak(server, seed, { requests: 0, seconds, signal, report: print });
    print(`\n${writeVerdict(checks, [], [])}`);
    return checks.every(({ times }) => times === 0);
  } finally {
    await server.stop();
  }
}

function exitAfter(seconds: number): void {
  setTimeout(() => {
    print(`the soak did not end within ${seconds} seconds`);
    process.exit(1);
  }, seconds * 1000).unref();
}

function runLoad(args: readonly string[], signal: AbortSignal): Promise<boolean> {
  const options = readSoakOptions(args);
  exitAfter(options.seconds * (1 + auditShare.seconds) + graceSeconds);
  return soak(options, signal);
}

function runChanges(args: readonly string[], signal: AbortSignal): Promise<boolean> {
  const options = readChangesSoakOptions(args);
  exitAfter(options.seconds + graceSeconds);
  return soakChanges(options, signal);
}

async function main(args: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    if (args.includes('--help')) {
      process.stdout.write(soakUsage);
      return 0;
    }
    const passed = await (args[0] === 'changes'
      ? runChanges(args.slice(1), interrupted.signal)
      : runLoad(args, interrupted.signal));
    if (interrupted.signal.aborted) return 130;
    return passed ? 0 : 1;
  } catch (error) {
    process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${soakUsage}` : `${stackOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
