/** `pgway test`: runs the tests of `*.test.sql` files. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { redactText } from '../log/redact.ts';
import { isComplete } from '../sql-tests/coverage.ts';
import { createReporter, type ReportFormat } from '../sql-tests/report.ts';
import { describeWarning, type ListedTests, listTestFiles, runFiles, selectTests } from '../sql-tests/run-files.ts';
import { TestGateway } from '../sql-tests/test-gateway.ts';
import { startDatabase, timeouts } from '../start.ts';
import type { Flag } from './arguments.ts';
import type { CommandContext } from './command-context.ts';
import { diagnosticLine } from './startup-banner.ts';

/** Seconds of a statement, where the configuration sets no `gateway.commandTimeout`. */
const defaultCommandTimeout = 30;

/**
 * Runs the tests, and prints their results. Returns 1 when one has failed, when there is none, and with `--complete` when something is not
 * tested.
 */
export async function runTests(context: CommandContext): Promise<number> {
  const { task, loaded, process, lifecycle } = context;
  const { configuration } = loaded;
  const { flags } = task;
  const warn = (line: string): void => process.stderr.write(`${escapeControlCharacters(redactText(line))}\n`);
  refuseProduction(configuration, flags);
  for (const warning of loaded.warnings) warn(`warning: ${warning}`);
  const { files, warnings } = await findTests(context);
  if (files.length === 0) {
    for (const warning of warnings) warn(describeWarning(warning));
    warn(noTests(task.filter));
    return 1;
  }
  const { workingDirectory } = process;
  const connectionString = await startDatabase(lifecycle, configuration, {
    workingDirectory,
    progress: warn,
    joins: true,
  });
  const statementTimeout = (configuration.gateway.commandTimeout ?? defaultCommandTimeout) * 1_000;
  const { failed, coverage } = await runFiles(files, {
    warnings,
    gateway: await startTestGateway(context, connectionString),
    session: { connectionString, statementTimeout },
    measuresCoverage: flags.has('coverage') || flags.has('complete'),
    stopSignal: lifecycle.stopSignal,
    reporter: createReporter(selectFormat(flags), (text) => process.stdout.write(text)),
  });
  if (failed > 0 || lifecycle.stopSignal.aborted) return 1;
  if (!flags.has('complete') || coverage === null || isComplete(coverage)) return 0;
  warn('--complete: some endpoints or policies are not tested; the report lists them');
  return 1;
}

/** @throws ConfigurationError */
function refuseProduction({ authentication }: Configuration, flags: ReadonlySet<Flag>): void {
  if (authentication.production !== true || flags.has('yes')) return;
  throw new ConfigurationError([
    'authentication.production: pgway test runs the statements of its files in this database, and rolls them back; pass another configuration, or --yes',
  ]);
}

/** Opens the gateway, and prints the endpoints that it cannot serve. */
async function startTestGateway(context: CommandContext, connectionString: string): Promise<TestGateway> {
  const { loaded, process, lifecycle } = context;
  const { configuration } = loaded;
  const { workingDirectory } = process;
  const tests = await lifecycle.start({
    name: 'the gateway',
    startTimeoutMs: timeouts.startGateway + configuration.gateway.startRetry * 1_000,
    start: () => TestGateway.open({ configuration, connectionString, workingDirectory }),
    stopTimeoutMs: timeouts.stopGateway,
    stop: ({ gateway }) => gateway.close(),
  });
  for (const diagnostic of tests.gateway.diagnostics)
    if (diagnostic.severity === 'error') process.stderr.write(`${diagnosticLine(diagnostic)}\n`);
  return tests;
}

/** @throws ConfigurationError for a pattern that leads out of the working directory */
async function findTests({ task, loaded, process }: CommandContext): Promise<ListedTests> {
  const { testFiles } = loaded.configuration;
  const patterns = typeof testFiles === 'string' ? [testFiles] : testFiles;
  try {
    const { files, warnings } = await listTestFiles(process.workingDirectory, patterns);
    return { files: selectTests(files, task.filter), warnings };
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigurationError([error.message]);
    throw error;
  }
}

function noTests(filter: string | null): string {
  return filter === null
    ? 'no file has tests; write one such as films.test.sql, or correct testFiles'
    : `no test has ${JSON.stringify(filter)} in its name or in that of its file`;
}

function selectFormat(flags: ReadonlySet<Flag>): ReportFormat {
  if (flags.has('junit')) return 'junit';
  return flags.has('tap') ? 'tap' : 'pretty';
}
