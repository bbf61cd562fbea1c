import type { Draft, Settings } from './endpoint-builder.ts';
import type { ResultShape, RawFormat } from './endpoint.ts';

const companions: readonly (keyof Settings)[] = ['separator', 'newLine', 'columnNames'];

/**
 * Raw mode as the comment asks for it; null without. What belongs to it does not switch it on: `names` and `columns` begin
 * many a line of prose, and a client that is answered JSON would suddenly get something else.
 */
export function planRaw(draft: Draft, answer: ResultShape): RawFormat | null {
  const { raw, separator, newLine, columnNames } = draft.settings;
  if (raw !== true) {
    for (const key of companions) warnOfNoEffect(draft, key, 'without raw');
    return null;
  }
  if (answer.kind === 'nothing') {
    for (const key of ['raw', ...companions] as const) warnOfNoEffect(draft, key, 'where the routine gives nothing');
    return null;
  }
  const nameless = answer.kind === 'record' || answer.kind === 'records';
  if (nameless) warnOfNoEffect(draft, 'columnNames', 'where only the call knows the columns');
  return { separator, newLine, columnNames: columnNames === true && !nameless };
}

function warnOfNoEffect(draft: Draft, key: keyof Settings, where: string): void {
  const use = draft.useOf(key);
  if (use === null || draft.settings[key] === false) return;
  draft.report('warning', 'no-effect', `${use.name} has no effect ${where}`, use.line);
}
