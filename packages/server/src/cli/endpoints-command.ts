/** `pgway endpoints`: each endpoint with the reason for it. */
import type { EndpointExplanation } from '@pgway/core';
import { apiDocsDiagnostics } from '../generated-files.ts';
import { redactText } from '../log/redact.ts';
import { escapeControlCharacters } from '../terminal-text.ts';
import type { CommandContext } from './command-context.ts';
import { explanationLines } from './explanation-text.ts';
import { openGateway } from './open-gateway.ts';

/**
 * Prints the endpoints that match the filter, and routines that failed to become one. Returns 1 when one of them has an error, or
 * when none matches the filter.
 */
export async function runEndpoints(context: CommandContext): Promise<number> {
  const { task, loaded, process } = context;
  const warn = (line: string): void => process.stderr.write(`${escapeControlCharacters(redactText(line))}\n`);
  for (const warning of loaded.warnings) warn(`warning: ${warning}`);
  const explanations: EndpointExplanation[] = [];
  // The standard output has the endpoints only, as other programs may read it.
  await openGateway(
    { ...context, reporter: { ...context.reporter, progress: warn } },
    {
      observer: () => {},
      strict: false,
      endpointsExplained: (all) => void explanations.push(...all),
      endpointCreateHandlers: [(endpoints) => apiDocsDiagnostics(endpoints, loaded.configuration)],
    },
  );
  const shown = selectExplanations(explanations, task.filter, task.flags.has('all'));
  if (task.flags.has('json')) process.stdout.write(`${toJson(shown)}\n`);
  else process.stdout.write(toText(shown, process.columns ?? Number.POSITIVE_INFINITY));
  if (shown.length === 0 && task.filter !== null) {
    warn(`no endpoint and no routine matches ${JSON.stringify(task.filter)}; pgway endpoints --all prints all of them`);
    return 1;
  }
  return shown.some(hasError) ? 1 : 0;
}

function hasError({ diagnostics }: EndpointExplanation): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Without a filter, routines without an endpoint are shown when they have a problem, or with `--all`. */
function selectExplanations(
  explanations: readonly EndpointExplanation[],
  filter: string | null,
  isAll: boolean,
): readonly EndpointExplanation[] {
  const selected = explanations.filter((explanation) => {
    if (filter !== null) return matches(explanation, filter.toLowerCase());
    return (
      isAll || explanation.endpoint !== null || explanation.diagnostics.some(({ severity }) => severity !== 'info')
    );
  });
  return selected.toSorted((left, right) => compare(sortKey(left), sortKey(right)));
}

function matches({ routine, schema, name, endpoint }: EndpointExplanation, filter: string): boolean {
  const texts = [routine, `${schema}.${name}`, ...(endpoint === null ? [] : [`${endpoint.method} ${endpoint.path}`])];
  return texts.some((text) => text.toLowerCase().includes(filter));
}

/** Endpoints by path and method, then the other routines by name. */
function sortKey({ endpoint, routine }: EndpointExplanation): string {
  return endpoint === null ? `1 ${routine}` : `0 ${endpoint.path} ${endpoint.method} ${routine}`;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function toText(explanations: readonly EndpointExplanation[], columns: number): string {
  return explanations.map((explanation) => `${explanationLines(explanation, columns).join('\n')}\n`).join('\n');
}

/** Masks password hashes. Characters that terminals interpret are JSON escapes. */
function toJson(explanations: readonly EndpointExplanation[]): string {
  const masked = explanations.map((explanation) => ({ ...explanation, endpoint: maskHash(explanation.endpoint) }));
  return JSON.stringify(masked, undefined, 2).split('\n').map(escapeControlCharacters).join('\n');
}

function maskHash(endpoint: EndpointExplanation['endpoint']): EndpointExplanation['endpoint'] {
  const basic = endpoint?.basicAuthentication ?? null;
  if (endpoint === null || basic === null || basic.hash === null) return endpoint;
  return { ...endpoint, basicAuthentication: { ...basic, hash: '***' } };
}
