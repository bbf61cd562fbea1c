import type { RoutineSource } from '../catalog/routine-source.ts';
import type { DerivingSource } from '../endpoints/deriving-source.ts';
import type { QuerySource } from '../ports/ports.ts';

/** A source of endpoints: it lists routines, and may build the query of each request in place of the call of the routine. */
export interface EndpointSource extends RoutineSource, DerivingSource, Partial<QuerySource> {}
