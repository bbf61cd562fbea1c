import { type Endpoint, logObserver, type Observation, type Observer } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { isLoopbackHost, serverUrl } from '../http/address.ts';
import { createLogger } from '../log/logger.ts';
import { isTls } from '../tls/certificate.ts';
import { escapeControlCharacters } from '../terminal-text.ts';
import type { ProcessContext } from './process-context.ts';
import { endpointLines, type EndpointReport, readyLines } from './startup-banner.ts';

/** Reports the progress of the start: as a banner for `log.format` `pretty`, as log lines for `json`. */
export interface StartupReporter {
  readonly observer: Observer;
  readonly progress: (line: string) => void;
  readonly info: (line: string) => void;
  readonly warning: (line: string) => void;
  readonly error: (line: string) => void;
  readonly loaded: (endpoints: EndpointReport) => void;
  readonly ready: (endpoints: EndpointReport, port: number, startupMs: number) => void;
  readonly stopping: () => void;
}

/** @param force prints the banner at every log level */
export function createStartupReporter(
  configuration: Configuration,
  process: ProcessContext,
  force: boolean,
): StartupReporter {
  const { log, host, tls } = configuration;
  const logger = createLogger({ ...log, write: (text) => process.stdout.write(text), now: () => new Date() });
  const observe = logObserver(logger, configuration.gateway);
  const isBanner = log.format === 'pretty';
  const isEnabled = force || log.level === 'debug' || log.level === 'info';
  const print = (...lines: readonly string[]): void => {
    if (isEnabled) for (const line of lines) process.stdout.write(`${line}\n`);
  };
  let isReady = false;

  return {
    observer: (observation) => {
      if (!(isBanner && !isReady && isReportedElsewhere(observation, configuration))) observe(observation);
    },
    progress: (line) => (isBanner ? print(escapeControlCharacters(line)) : logger.info({}, line)),
    info: (line) => logger.info({}, line),
    warning: (line) => logger.warn({}, line),
    error: (line) => logger.error({}, line),
    loaded: (loaded) => {
      if (isBanner) print(...endpointLines(loaded, process.columns ?? Number.POSITIVE_INFINITY));
      else logger.info({ endpoints: loaded.endpoints.length }, 'endpoints loaded');
    },
    ready: ({ endpoints }, port, startupMs) => {
      isReady = true;
      const url = serverUrl(host, port, isTls(tls) ? 'https' : 'http');
      if (!isLoopbackHost(host)) logger.warn({ host }, openEndpointsWarning(endpoints));
      if (isBanner) print('', ...readyLines(endpoints, url, startupMs));
      else logger.info({ url, milliseconds: Math.round(startupMs) }, 'ready');
    },
    stopping: () => (isBanner ? print('stopping') : logger.info({}, 'stopping')),
  };
}

/** The banner shows endpoints and diagnostics; a failed main connection is the error that ends the start. */
function isReportedElsewhere(observation: Observation, { gateway }: Configuration): boolean {
  switch (observation.kind) {
    case 'endpoint-created':
    case 'diagnostic':
      return true;
    case 'connection-failed':
      return observation.connection === null && gateway.startRetry === 0;
    default:
      return false;
  }
}

function openEndpointsWarning(endpoints: readonly Endpoint[]): string {
  const open = endpoints.filter((endpoint) => !endpoint.authorization.required).length;
  return `${open} of ${endpoints.length} endpoints need no authentication; every client that reaches this address can call them`;
}
