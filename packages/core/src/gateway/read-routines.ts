import type { Routine } from '../catalog/routine.ts';
import { mapInSlices } from '../catalog/slices.ts';
import type { BuildOptions, BuiltEndpoints } from '../endpoints/build-endpoints.ts';
import { isIdempotencyRoutine } from '../endpoints/idempotency-store.ts';
import type { Connections } from './connections.ts';
import type { EndpointSource } from './endpoint-source.ts';
import type { ResolvedOptions } from './options/options.ts';

/** Reads the routines of all sources, with the names of the sources. */
export async function readRoutines(
  sources: readonly EndpointSource[],
  { main }: Connections,
  options: ResolvedOptions,
): Promise<readonly Routine[]> {
  const read = await Promise.all(
    sources.map(async (source) => {
      const routines = await source.read(main, options);
      const published = routines.filter((routine) => !isIdempotencyRoutine(routine, options.idempotency.schema));
      const dialect = source.dialect === undefined ? {} : { dialect: source.dialect.name };
      return mapInSlices(published, (routine) => addSource(routine, { source: source.name, ...dialect }));
    }),
  );
  return read.flat();
}

type SourceMembers = Pick<Routine, 'source' | 'dialect'>;

/** The copies of routines that their source keeps. */
const withSources = new WeakMap<Routine, Routine>();

function addSource(routine: Routine, members: SourceMembers): Routine {
  const known = withSources.get(routine);
  if (known !== undefined && known.source === members.source && known.dialect === members.dialect) return known;
  const added = { ...routine, ...members };
  if (routine.isKept === true) withSources.set(routine, added);
  return added;
}

/** The options of a gateway stay the same. */
const builtByGateway = new WeakMap<Connections, BuiltEndpoints>();

/** Returns how a load of the gateway builds endpoints: with those of earlier ones, or with an explanation of each. */
export function keepEndpoints(connections: Connections, { endpointsExplained }: ResolvedOptions): BuildOptions {
  let kept = builtByGateway.get(connections);
  if (kept === undefined) builtByGateway.set(connections, (kept = new WeakMap()));
  return { explain: endpointsExplained !== null, kept };
}
