/** The entry point of the gateway's process: starts a gateway, then measures its memory on request. */
import { createGateway, crudSource } from '@pgway/core';

import type { ListeningServer } from '../contenders/contender.ts';
import { listenOnFreePort } from '../contenders/listen.ts';
import { raisedState } from './schema.sql.ts';
import {
  type FromGateway,
  type GatewaySettings,
  slowClientTimeoutSeconds,
  type GatewayCommand,
} from './gateway-process.ts';
import { stackOf } from '../stack-of.ts';

const closeTimeoutMs = 10_000;
const maxReportedErrors = 12;
let listening: ListeningServer | null = null;
const reported = new Set<string>();

const send = (message: FromGateway): void => void process.send?.(message);

/** Sends the causes of failures, which responses do not contain: each cause once, up to a limit. */
function reportError(text: string): void {
  if (reported.size < maxReportedErrors && !reported.has(text)) send({ kind: 'error', text });
  reported.add(text);
}

async function start(settings: GatewaySettings): Promise<void> {
  const gateway = await createGateway({
    connectionString: settings.connectionString,
    poolSize: settings.pool,
    pooler: settings.pooler,
    preparedStatements: settings.preparedStatements,
    commandTimeout: 20,
    slowClientTimeout: slowClientTimeoutSeconds,
    startRetry: 10,
    sourcesCreated: (sources) => void sources.push(crudSource()),
    logConnectionNoticeEvents: false,
    authentication: {
      jwt: {
        signingKey: { secret: 'a secret of the soak, which has 32 bytes and more' },
        issuer: 'soak',
        audience: 'soak',
        lifetime: 86_400,
        production: false,
      },
      databaseRole: { claim: 'db_role', anonymous: settings.anonymousRole },
    },
    observer(observation) {
      if (observation.kind === 'diagnostic' && observation.diagnostic.severity === 'error') {
        reportError(`diagnostic: ${JSON.stringify(observation.diagnostic)}`);
      }
      if (observation.kind === 'request-failed' && observation.status === 500 && !isRaised(observation.error)) {
        reportError(describe(observation.error));
      }
    },
  });
  listening = await listenOnFreePort(gateway.middleware, () => gateway.close(), { keepAliveTimeout: 120_000 });
  send({ kind: 'started', port: listening.port });
}

interface Raised {
  readonly diagnostics: { readonly code: string };
}

function isRaised(error: Error): boolean {
  const { cause } = error;
  return [error, cause].some((value) => (value as Partial<Raised> | undefined)?.diagnostics?.code === raisedState);
}

/** Returns the error without parts that differ between calls, so that each cause is reported once. */
function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `, caused by ${stackOf(error.cause)}` : '';
  return error.name === 'DatabaseError' ? error.message : `${stackOf(error)}${cause}`;
}

async function stop(): Promise<void> {
  // The exit code reports a gateway that does not close.
  setTimeout(() => process.exit(3), closeTimeoutMs).unref();
  await listening?.close();
  process.exit(0);
}

process.on('message', (message: GatewayCommand) => {
  if (message.kind === 'start') {
    start(message.settings).catch((error: unknown) => {
      send({ kind: 'failed', text: stackOf(error) });
    });
    return;
  }
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  send({ kind: 'memory', rss, heap: heapUsed + external });
});
process.once('disconnect', () => void stop());
process.on('unhandledRejection', (reason) => reportError(`unhandled rejection: ${String(reason)}`));
process.on('SIGINT', () => {});
