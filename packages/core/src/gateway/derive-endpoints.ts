import type { Routine } from '../catalog/routine.ts';
import { runInSlices } from '../catalog/slices.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import { excludeDuplicateRoutes, excludeTakenRoutes } from '../endpoints/duplicate-routes.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointSource } from './endpoint-source.ts';

/** Endpoints, and why others are left out. */
export interface ReportedEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Adds the endpoints that sources make of others. A route that another endpoint has stays with it. */
export async function addDerivedEndpoints(
  { endpoints, diagnostics }: ReportedEndpoints,
  routines: readonly Routine[],
  sources: readonly EndpointSource[],
  includeSchemas: readonly string[] | null | undefined,
): Promise<ReportedEndpoints> {
  const derived = sources.flatMap((source) =>
    (source.deriveEndpoints?.(endpoints, routines, includeSchemas) ?? []).map((endpoint) =>
      Object.freeze({ ...endpoint, source: source.name }),
    ),
  );
  if (derived.length === 0) return { endpoints, diagnostics };
  const free = excludeTakenRoutes(derived, endpoints);
  const routed = await runInSlices(excludeDuplicateRoutes(free.endpoints));
  return {
    endpoints: [...endpoints, ...routed.endpoints],
    diagnostics: [...diagnostics, ...free.diagnostics, ...routed.diagnostics],
  };
}
