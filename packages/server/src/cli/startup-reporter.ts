import { logObserver } from '@pgway/core';
import type { Endpoint, Observation, Observer } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { createLogger } from '../log/logger.ts';
import { publishedLines, tryCommand, urlOf } from './startup-banner.ts';
import type { Published } from './startup-banner.ts';
import { neutralise } from '../terminal-text.ts';
import type { Streams } from './streams.ts';

/** Says how the start goes: as a page for people or as lines of the log, by `log.format`. */
export interface Announcer {
  readonly observer: Observer;
  readonly progress: (line: string) => void;
  readonly warning: (line: string) => void;
  readonly published: (published: Published) => void;
  /** @param milliseconds since the start */
  readonly ready: (published: Published, port: number, milliseconds: number) => void;
  readonly stopping: () => void;
}

/** @param insist the page is what was asked for: it is printed whatever the level of the log */
export function announcer(configuration: Configuration, streams: Streams, insist: boolean): Announcer {
  const { log, host } = configuration;
  const logger = createLogger({ ...log, write: (text) => streams.stdout.write(text), now: () => new Date() });
  const observe = logObserver(logger, configuration.gateway);
  const isPage = log.format === 'pretty';
  const isWanted = insist || log.level === 'debug' || log.level === 'info';
  const print = (...lines: readonly string[]): void => {
    if (isWanted) for (const line of lines) streams.stdout.write(`${line}\n`);
  };
  let isReady = false;

  return {
    observer: (observation) => {
      if (!(isPage && !isReady && isSaidElsewhere(observation, configuration))) observe(observation);
    },
    progress: (line) => (isPage ? print(neutralise(line)) : logger.info({}, line)),
    warning: (line) => logger.warn({}, line),
    published: (published) => {
      if (isPage) print(...publishedLines(published, streams.columns ?? Number.POSITIVE_INFINITY));
      else logger.info({ endpoints: published.endpoints.length }, 'published');
    },
    ready: ({ endpoints }, port, milliseconds) => {
      isReady = true;
      const url = urlOf(host, port);
      if (!isLoopback(host)) logger.warn({ host }, openWarning(endpoints));
      if (isPage) print('', ...readyLines(endpoints, url, milliseconds));
      else logger.info({ url, milliseconds: Math.round(milliseconds) }, 'ready');
    },
    stopping: () => (isPage ? print('stopping') : logger.info({}, 'stopping')),
  };
}

/** The page of the start shows them already; the connection without which there is no start is what the start fails with. */
function isSaidElsewhere(observation: Observation, { gateway }: Configuration): boolean {
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

function readyLines(endpoints: readonly Endpoint[], url: string, milliseconds: number): readonly string[] {
  const command = tryCommand(endpoints, url);
  const count = `${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}`;
  return [
    `${count} at ${url} after ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C ends.`,
    ...(command === null ? [] : [`Try:  ${neutralise(command)}`]),
  ];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function openWarning(endpoints: readonly Endpoint[]): string {
  const open = endpoints.filter((endpoint) => !endpoint.authorization.required).length;
  return `everybody who reaches this address can call ${open} of ${endpoints.length} endpoints without signing in`;
}
