/** `pgway endpoints`: each endpoint with the reason for it. */
import type { EndpointExplanation } from '@pgway/core';
import {
  explanationsJson,
  explanationsText,
  hasError,
  nearestExplanation,
  selectExplanations,
} from '@pgway/core/explanation';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { servedDiagnostics } from '../generated-files.ts';
import { redactText } from '../log/redact.ts';
import type { CommandContext } from './command-context.ts';
import { openGateway } from './open-gateway.ts';
import { noEndpoints } from './startup-banner.ts';

/**
 * Prints the endpoints that match the filter, and routines that failed to become one. Returns 1 when one of them has an error, or
 * when none matches the filter.
 */
export async function runEndpoints(context: CommandContext): Promise<number> {
  const { task, loaded, process } = context;
  const warn = (line: string): void => process.stderr.write(`${escapeControlCharacters(redactText(line))}\n`);
  for (const warning of loaded.warnings) warn(`warning: ${warning}`);
  const explanations: EndpointExplanation[] = [];
  const schemaWarnings: string[] = [];
  // The standard output has the endpoints only, as other programs may read it.
  await openGateway(
    { ...context, reporter: { ...context.reporter, progress: warn } },
    {
      observer: (observation) => {
        const isOfSchema = observation.kind === 'start-warning' && observation.code === 'unknown-schema';
        if (isOfSchema) schemaWarnings.push(observation.message);
      },
      strict: false,
      endpointsExplained: (all) => void explanations.push(...all),
      endpointCreateHandlers: [(endpoints) => servedDiagnostics(endpoints, loaded.configuration)],
    },
  );
  const shown = selectExplanations(explanations, task.filter, task.flags.has('all'));
  if (task.flags.has('json')) process.stdout.write(explanationsJson(shown));
  else process.stdout.write(explanationsText(shown, process.columns ?? Number.POSITIVE_INFINITY));
  if (shown.length === 0 && task.filter !== null) {
    const near = nearestExplanation(explanations, task.filter);
    const hint = near === null ? 'pgway endpoints --all prints all of them' : `did you mean ${near}?`;
    warn(`no endpoint and no routine matches ${JSON.stringify(task.filter)}; ${hint}`);
    return 1;
  }
  if (shown.length === 0) {
    for (const warning of schemaWarnings) warn(`warning: ${warning}`);
    for (const line of noEndpoints) warn(line);
  }
  return shown.some(hasError) ? 1 : 0;
}
