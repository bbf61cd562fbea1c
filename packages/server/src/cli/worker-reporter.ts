import type { Observation } from '@pgway/core';
import type { WorkerPart } from './command-context.ts';
import type { StartupReporter } from './startup-reporter.ts';

/** Returns the reporter of a worker. What all workers find at a load of the endpoints is reported by one of them. */
export function workerReporter(
  reporter: StartupReporter,
  { announces, state }: Pick<WorkerPart, 'announces' | 'state'>,
): StartupReporter {
  return {
    ...reporter,
    observer: (observation) => {
      if (state().leads || !isOfLoad(observation)) reporter.observer(observation);
    },
    progress: (line) => {
      if (state().leads) reporter.progress(line);
    },
    warning: (line) => {
      if (state().leads) reporter.warning(line);
    },
    loaded: (endpoints) => {
      if (announces) reporter.loaded(endpoints);
      else reporter.started();
    },
    ready: (...facts) => {
      if (announces) reporter.ready(...facts);
    },
    // The primary says so.
    stopping: () => undefined,
  };
}

const loadKinds: ReadonlySet<Observation['kind']> = new Set([
  'endpoints-created',
  'endpoint-created',
  'diagnostic',
  'start-warning',
]);

function isOfLoad({ kind }: Observation): boolean {
  return loadKinds.has(kind);
}
