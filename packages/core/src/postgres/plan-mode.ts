import { MaintenanceRequest, type Pipeline } from './pipeline.ts';
import type { Call, Step } from './port.ts';
import type { SessionState } from './session-state.ts';

const steps: Readonly<Record<'auto' | 'force_generic_plan', readonly Step[]>> = {
  auto: [{ statement: { name: '', sql: 'set plan_cache_mode = auto' }, values: [] }],
  force_generic_plan: [{ statement: { name: '', sql: 'set plan_cache_mode = force_generic_plan' }, values: [] }],
};

/** Sets `plan_cache_mode` of the session, in a transaction of its own: it stays when the call behind it fails. */
class PlanModeRequest extends MaintenanceRequest {
  /** The call behind it is one of the short calls that share the connection, or the last one. */
  override get mayBeFollowed(): boolean {
    return true;
  }
}

/**
 * Gives the session the plan mode of a call that is about to be sent, in the packet of the call. A session whose mode belongs to a pooler or
 * the host never gets a call with a plan.
 * @returns whether it has generic plans
 */
export function selectPlanMode(state: SessionState, pipeline: Pipeline, { plan = null }: Pick<Call, 'plan'>): boolean {
  const isGeneric = plan !== null && plan.isGeneric;
  if (isGeneric === state.hasGenericPlans) return isGeneric;
  state.hasGenericPlans = isGeneric;
  const setMode = steps[isGeneric ? 'force_generic_plan' : 'auto'];
  pipeline.writer.writeSteps(setMode);
  // After an error the mode is unknown: the next call sets it again.
  pipeline.push(
    new PlanModeRequest(setMode.length, (error) => void (error === null || (state.hasGenericPlans = null))),
  );
  return isGeneric;
}
