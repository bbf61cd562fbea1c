import type { Endpoint, Observation, Observer } from '@pgway/core';
import { logObserver } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { isLoopbackHost, serverUrl } from '../address.ts';
import type { RequestErrorListener } from '../http/static-files.ts';
import { isTls } from '../config/schema/tls.ts';
import { createAccessWriter } from '../log/access-line.ts';
import type { BatchSink } from '../log/batch-queue.ts';
import { logSources, type LogSource } from '../config/schema/log.ts';
import { sourceOf, writesAccessLines } from '../log/log-level.ts';
import { createLoggers, type LoggerOptions, type Loggers } from '../log/logger.ts';
import { consoleOnly, createLogOutputs, type LogOutputs, type LogOutputsContext } from '../log/log-outputs.ts';
import { startPageFiles, startPagePath } from '../pages/start-page.ts';
import { prettyLine } from '../log/pretty-line.ts';
import { redactText } from '../log/redact.ts';
import { createRequestLog, type RequestLog } from '../log/request-log.ts';
import { needsRequests } from '../telemetry.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { ProcessContext } from '../process-context.ts';
import { endpointLines, type EndpointReport, readyLines } from './startup-banner.ts';

/** Reports the progress of the start: as a banner for `log.format` `pretty`, as log lines for `json`. */
export interface StartupReporter {
  readonly observer: Observer;
  readonly progress: (line: string) => void;
  readonly info: (line: string) => void;
  readonly warning: (line: string) => void;
  /** A warning about requests: with workers, each sees other ones. */
  readonly requestWarning: (line: string) => void;
  readonly error: (line: string) => void;
  /** Reports an error of a request that the gateway does not observe. */
  readonly requestFailed: RequestErrorListener;
  readonly loaded: (endpoints: EndpointReport) => void;
  readonly ready: (endpoints: EndpointReport, port: number, startupMs: number) => void;
  /** Ends the banner without printing it: what follows is logged. */
  readonly started: () => void;
  readonly stopping: () => void;
  /** Null: requests are neither logged nor tracked nor counted. */
  readonly requestLog: RequestLog | null;
  readonly outputs: LogOutputs;
}

/** The number and the outputs of a worker process. */
export interface WorkerOutput {
  /** The number of the worker in log lines. */
  readonly worker: number;
  readonly workers: number;
  /** Writes into the log file, which all workers share. */
  readonly logFile: BatchSink<Uint8Array>;
}

/** @param force prints the banner at every log level, and writes to no other output */
export function createStartupReporter(
  configuration: Configuration,
  process: ProcessContext,
  force: boolean,
  output?: WorkerOutput,
): StartupReporter {
  const { log, host, tls } = configuration;
  const isBanner = log.format === 'pretty';
  const outputs = force
    ? consoleOnly(process.stdout)
    : createLogOutputs(configuration, outputsContext(process, output));
  const { loggers, others, requestLog } = openLogs(configuration, outputs, output?.worker ?? null);
  const observe = createLogObserver(loggers, configuration);
  const observeElsewhere = createLogObserver(others, configuration);
  const logger = loggers.start;
  const bannerLogger = isBanner ? others.start : logger;
  const isEnabled = force || log.level === 'debug' || log.level === 'info';
  const print = (...lines: readonly string[]): void => {
    if (isEnabled) for (const line of lines) outputs.console(`${line}\n`);
  };
  let isReady = false;

  return {
    requestLog,
    outputs,
    observer: (observation) => {
      if (requestLog?.observe(observation) === true) return;
      const isInBanner =
        isBanner && (isReady ? describesEndpoints(observation) : isReportedElsewhere(observation, configuration));
      if (isInBanner) observeElsewhere(observation);
      else observe(observation);
    },
    progress: (line) => {
      if (isBanner) print(escapeControlCharacters(line));
      bannerLogger.info({}, line);
    },
    info: (line) => logger.info({}, line),
    warning: (line) => logger.warn({}, line),
    requestWarning: (line) => logger.warn({}, line),
    error: (line) => logger.error({}, line),
    requestFailed: createErrorReporter(loggers),
    loaded: (loaded) => {
      if (isBanner && isEnabled) print(...endpointLines(loaded, process.columns ?? Number.POSITIVE_INFINITY));
      bannerLogger.info({ endpoints: loaded.endpoints.length }, 'endpoints loaded');
    },
    ready: ({ endpoints }, port, startupMs) => {
      isReady = true;
      const url = serverUrl(host, port, isTls(tls) ? 'https' : 'http');
      if (!isLoopbackHost(host)) logger.warn({ host }, openEndpointsWarning(endpoints));
      const pagePath = startPagePath(configuration, endpoints);
      if (isBanner) print('', ...readyLines(endpoints, { url, pagePath, startupMs, workers: output?.workers ?? 1 }));
      const milliseconds = Math.round(startupMs);
      bannerLogger.info({ url, milliseconds, ...workersField(output) }, 'ready');
    },
    started: () => void (isReady = true),
    stopping: () => {
      if (isBanner) print('stopping');
      bannerLogger.info({}, 'stopping');
    },
  };
}

/** The number of workers in a log line, if there are several. */
function workersField({ workers = 1 }: Partial<WorkerOutput> = {}): { readonly workers?: number } {
  return workers === 1 ? {} : { workers };
}

interface Logs {
  readonly loggers: Loggers;
  /** For what the banner shows on the console. */
  readonly others: Loggers;
  readonly requestLog: RequestLog | null;
}

function openLogs(configuration: Configuration, outputs: LogOutputs, worker: number | null): Logs {
  const { log } = configuration;
  const isBanner = log.format === 'pretty';
  const write = isBanner ? (line: string): void => outputs.console(prettyLine(line)) : outputs.console;
  const console = { level: log.level, write, ...(isBanner ? { writePretty: outputs.console } : {}) };
  const common = { levels: log.levels, now: (): Date => new Date(), worker };
  const options = { ...common, targets: [console, ...outputs.targets] };
  return {
    loggers: createLoggers(options),
    others: createLoggers({ ...common, targets: isBanner ? outputs.targets : [] }),
    requestLog: openRequestLog(configuration, options, outputs),
  };
}

/** As the lines of the gateway about failed requests. */
function createErrorReporter({ request: logger }: Loggers): RequestErrorListener {
  return (error, { id, method, url = '' }) => {
    const path = redactText(url.split('?', 1)[0]!);
    logger.error({ method, path, requestId: id, status: 500, error }, 'request failed');
  };
}

/** Failures of log outputs go to standard error alone: as log lines they would cause further ones. */
function outputsContext(
  { workingDirectory, stderr, writeLog, writeLogSync, onExit }: ProcessContext,
  output?: WorkerOutput,
): LogOutputsContext {
  const report = (message: string): void => stderr.write(`pgway: ${escapeControlCharacters(redactText(message))}\n`);
  return {
    workingDirectory,
    report,
    writeLog,
    writeLogSync,
    onExit,
    ...(output === undefined ? {} : { file: output.logFile }),
  };
}

function createLogObserver(loggers: Loggers, { gateway }: Configuration): Observer {
  const bySource = Object.fromEntries(
    logSources.map((source) => [source, logObserver(loggers[source], gateway)]),
  ) as Record<LogSource, Observer>;
  return (observation) => bySource[sourceOf(observation)](observation);
}

/** Paths that programs request all the time. */
function skippedPaths({ log, health, metrics }: Configuration): readonly string[] {
  const ofHealth = health.path === null ? [] : [health.path, `${health.path}/live`, `${health.path}/ready`];
  return log.access.skipPaths ?? [...ofHealth, ...(metrics.path === null ? [] : [metrics.path]), ...startPageFiles];
}

function openRequestLog(
  configuration: Configuration,
  loggerOptions: LoggerOptions,
  { track }: LogOutputs,
): RequestLog | null {
  const { log, authentication } = configuration;
  const enabled = writesAccessLines(log.levels);
  if (!enabled && track === null && !needsRequests(configuration)) return null;
  return createRequestLog({
    skipPaths: skippedPaths(configuration),
    userClaims: [authentication.defaultNameClaimType, authentication.defaultUserIdClaimType],
    now: loggerOptions.now,
    consumers: [...(enabled ? [createAccessWriter(loggerOptions)] : []), ...(track === null ? [] : [track])],
  });
}

/** The banner shows endpoints and diagnostics; a failed main connection is the error that ends the start. */
function isReportedElsewhere(observation: Observation, { gateway }: Configuration): boolean {
  switch (observation.kind) {
    case 'endpoints-created':
    case 'endpoint-created':
    case 'diagnostic':
      return true;
    case 'connection-failed':
      return observation.connection === null && gateway.startRetry === 0;
    default:
      return false;
  }
}

/** Whether the observation describes endpoints as they are, of which a reload would print thousands that have not changed. */
function describesEndpoints(observation: Observation): boolean {
  if (observation.kind === 'diagnostic') return observation.diagnostic.severity === 'info';
  return observation.kind === 'endpoint-created' || observation.kind === 'endpoints-created';
}

function openEndpointsWarning(endpoints: readonly Endpoint[]): string {
  const open = endpoints.filter((endpoint) => !endpoint.authorization.required).length;
  return `${open} of ${endpoints.length} endpoints need no authentication; every client that reaches this address can call them`;
}
