import { display } from './display.ts';
import type { Draft } from './endpoint-builder.ts';
import type { ResultShape, CachePolicy, EndpointParameter } from './endpoint.ts';
import { parameterNamed } from './parameters.ts';

/** How answers are kept, as the comment asks for it; null: they are not. */
export function planCache(
  draft: Draft,
  parameters: readonly EndpointParameter[],
  answer: ResultShape,
): CachePolicy | null {
  const { cached, cacheExpires } = draft.settings;
  if (cached === null) {
    noEffect(draft, 'cacheExpires', 'without cached');
    return null;
  }
  // The comment of a table is that of all that can be done to it: what changes it is not meant.
  const operation = draft.routine.table?.operation ?? 'select';
  if (operation !== 'select') return null;
  const why = notKept(draft, answer);
  if (why !== null) {
    noEffect(draft, 'cached', why);
    return null;
  }
  return {
    parameters: cached === 'all' ? null : positionsOf(draft, parameters, cached),
    expires: cacheExpires,
  };
}

/** Where answers cannot be given again, and why. */
function notKept({ settings, routine, headers }: Draft, answer: ResultShape): string | null {
  if (settings.signIn !== null) return 'where callers sign in or out';
  if (routine.kind === 'procedure') return 'for procedures, which are called for what they do';
  if (answer.kind === 'nothing') return 'where the routine gives nothing';
  return headers.some(({ name }) => name.toLowerCase() === 'set-cookie') ? 'beside Set-Cookie' : null;
}

/** A key without the parameter that the author meant would give one caller the answer of another. */
function positionsOf(
  draft: Draft,
  parameters: readonly EndpointParameter[],
  names: readonly string[],
): readonly number[] {
  const unknown = names.filter((name) => parameterNamed(parameters, name) === null);
  if (unknown.length > 0) {
    draft.report(
      'error',
      'unknown-parameter',
      `cached names ${unknown.map(display).join(', ')}, which ${unknown.length === 1 ? 'is no parameter' : 'are no parameters'} of the routine; if the line is prose, begin it with another word`,
      draft.useOf('cached')?.line ?? null,
    );
  }
  const positions = names.flatMap((name) => parameterNamed(parameters, name)?.position ?? []);
  return [...new Set(positions)].toSorted((one, other) => one - other);
}

function noEffect(draft: Draft, key: 'cached' | 'cacheExpires', where: string): void {
  const use = draft.useOf(key);
  if (use === null || draft.settings[key] === null) return;
  draft.report('warning', 'no-effect', `${use.name} has no effect ${where}`, use.line);
}
