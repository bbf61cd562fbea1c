/** `pgway validate`: checks configuration, database and comments. */
import type { Observation } from '@pgway/core';

import { servedDiagnostics, fileDiagnostics } from '../generated-files.ts';
import { redactText } from '../log/redact.ts';
import { openCertificateStore } from '../tls/certificate-store.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { CommandContext } from './command-context.ts';
import { openGateway } from './open-gateway.ts';
import { unreachableEndpoints } from './unreachable-endpoints.ts';
import { diagnosticLine } from './startup-banner.ts';

/** Prints every error and warning with its routine and line, then a summary. Returns 1 when there is an error. */
export async function runValidate(context: CommandContext): Promise<number> {
  const { loaded, process } = context;
  const { configuration } = loaded;
  const print = (line: string): void => process.stdout.write(`${line}\n`);
  const certificates = await openCertificateStore(configuration, process.workingDirectory, context.reporter);
  const warnings = [...loaded.warnings, ...(certificates?.warnings ?? [])];
  const { gateway } = await openGateway(context, {
    observer: (observation) => warnings.push(...serviceWarnings(observation)),
    // Otherwise, the first kind of error would hide the others.
    strict: false,
    endpointCreateHandlers: [
      (endpoints) => [...servedDiagnostics(endpoints, configuration), ...fileDiagnostics(endpoints, configuration)],
    ],
  });
  for (const warning of unreachableEndpoints(gateway.endpoints, configuration)) warnings.push(warning);
  for (const warning of warnings) print(`warning: ${escapeControlCharacters(redactText(warning))}`);
  const problems = gateway.diagnostics.filter(({ severity }) => severity !== 'info');
  for (const problem of problems) print(diagnosticLine(problem));
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const counts = [
    [gateway.endpoints.length, 'endpoint'],
    [errors, 'error'],
    [problems.length - errors + warnings.length, 'warning'],
  ] as const;
  print(counts.map(([count, noun]) => `${count} ${noun}${count === 1 ? '' : 's'}`).join(', '));
  return errors === 0 ? 0 : 1;
}

/** Returns the warnings about the start and about optional services. A failure of the main connection ends the start. */
function serviceWarnings(observation: Observation): readonly string[] {
  switch (observation.kind) {
    case 'start-warning':
      return [observation.message];
    case 'connection-failed':
      return observation.connection === null
        ? []
        : [`connection ${observation.connection}: ${observation.error.message}`];
    case 'cache-unavailable':
    case 'rate-limits-unavailable':
    case 'broadcast-unavailable':
    case 'authentication-error':
      return [observation.error.message];
    default:
      return [];
  }
}
