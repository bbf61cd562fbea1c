import type { CommandContext } from '../command/command-context.ts';
import type { Connection } from '../connection/connection.ts';
import { readExplanations } from '../endpoints/read-explanations.ts';
import type { RoutineEndpoint } from './document-text.ts';

export interface Endpoints {
  /** By the signature of the routine, without double quotes. */
  readonly bySignature: ReadonlyMap<string, RoutineEndpoint>;
  /** Probable mistakes in the settings. */
  readonly warnings: readonly string[];
}

/** Reads the endpoints that the gateway creates for routines, with the settings of the working folder. */
export async function readEndpoints({ process, progress }: CommandContext, connection: Connection): Promise<Endpoints> {
  const { explanations, warnings } = await readExplanations({
    process,
    progress,
    withConnection: (use) => use(connection),
  });
  const found = explanations.flatMap(({ routine, endpoint, values }) => {
    if (endpoint === null) return [];
    const authorization = values.find(({ name }) => name === 'authorization')?.value ?? '';
    const { method, path } = endpoint;
    return [[routine.replaceAll('"', ''), { method, path, authorization }] as const];
  });
  return { bySignature: new Map(found), warnings };
}
