import type { Routine } from '../catalog/routine.ts';
import type { Endpoint } from './endpoint.ts';

/** A source whose endpoints are made of those of other sources. */
export interface DerivingSource {
  /**
   * Returns further endpoints of this source. Called at each load, after the hooks of the host, so that the authorization and the limits
   * of the endpoints are final.
   * @param endpoints all that are published
   * @param routines those of all sources
   * @param includeSchemas the schemas of the gateway; null or absent: all
   */
  deriveEndpoints?(
    endpoints: readonly Endpoint[],
    routines: readonly Routine[],
    includeSchemas?: readonly string[] | null,
  ): readonly Endpoint[];
}
