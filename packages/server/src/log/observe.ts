import type { Diagnostic, Observation, Observer } from '@pgway/core';
import type { Level, Logger } from './logger.ts';

const noticeLevels: Readonly<Record<string, Level>> = { DEBUG: 'debug', WARNING: 'warn' };
const diagnosticLevels: Readonly<Record<Diagnostic['severity'], Level>> = {
  error: 'error',
  warning: 'warn',
  info: 'info',
};

/** Turns what the gateway observes into log lines. No line holds a query string, a body or a header. */
export function logObservations(logger: Logger): Observer {
  return (observation) => {
    switch (observation.kind) {
      case 'endpoint-created':
        return logEndpoint(logger, observation);
      case 'diagnostic':
        return logDiagnostic(logger, observation.diagnostic);
      case 'notice':
        return logNotice(logger, observation);
      case 'request-failed':
        return logFailure(logger, observation);
    }
  };
}

function logEndpoint(logger: Logger, { endpoint }: Extract<Observation, { kind: 'endpoint-created' }>): void {
  logger.info({ method: endpoint.method, path: endpoint.path, routine: endpoint.id }, 'endpoint created');
}

function logDiagnostic(logger: Logger, { severity, code, routine, line, message }: Diagnostic): void {
  logger[diagnosticLevels[severity]]({ routine, line, code }, message);
}

function logNotice(logger: Logger, { endpoint, notice }: Extract<Observation, { kind: 'notice' }>): void {
  const level = noticeLevels[notice.severity.replace(/\d$/, '')] ?? 'info';
  logger[level]({ routine: endpoint.id, severity: notice.severity }, notice.message);
}

/** A refusal with a correlation id is the server's own trouble; the others are the client's, and frequent. */
function logFailure(logger: Logger, failure: Extract<Observation, { kind: 'request-failed' }>): void {
  const { method, path, status, correlationId, endpoint, error } = failure;
  const fields = { method, path, status, ...(endpoint === null ? {} : { routine: endpoint.id }) };
  if (correlationId === null && status < 500) logger.debug({ ...fields, reason: error.message }, 'request refused');
  else logger.error({ ...fields, ...(correlationId === null ? {} : { correlationId }), error }, 'request failed');
}
