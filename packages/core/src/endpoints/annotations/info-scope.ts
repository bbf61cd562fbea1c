import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import { readScope } from '../event-scope.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** What nobody can read goes to nobody else than the caller. */
function apply(use: WordUse, draft: Draft): Complaint | null {
  const scope = readScope(use.words);
  draft.set(use, 'infoScope', scope ?? { kind: 'self', names: [] });
  if (scope !== null) return null;
  return {
    code: 'unknown-scope',
    severity: 'warning',
    message: `${use.name} takes self, matching, authorize with names, or all, not ${display(use.text)}; only callers themselves get the events`,
    leftover: use.words.slice(1),
  };
}

export const infoScope: Word = {
  names: ['info_scope', 'info_events_scope', 'info_streaming_scope'],
  syntax: ['info_scope self | matching | all', 'info_scope authorize', 'info_scope authorize <name> …'],
  documentation:
    'Who gets the events of `info_path`: `self` is the stream of the caller with the execution id of the call, and the default; `matching` those who may call the endpoint; `authorize` whoever is signed in and, when names are given, has one of these roles, or is one of these users (`user:<name>`, `id:<id>`); `all` everybody. A `HINT` of the same words says it for one message.',
  guards: true,
  supported: true,
  apply,
};
