import type { RoutineFault } from '../catalog/routine.ts';

/** A mistake in a file. */
export type FileFault = RoutineFault;

/** Characters of a line that a message shows before and after the place. */
const shownCharacters = 60;

/** Returns the fault with the line of its place, and a caret under it. */
export function faultAt(text: string, at: number, code: string, message: string): FileFault {
  const before = text.slice(0, at);
  const start = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const end = text.indexOf('\n', start);
  const whole = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '');
  const column = at - start;
  const from = Math.max(0, column - shownCharacters);
  const shown = whole.slice(from, column + shownCharacters).replaceAll(/[\t\p{Cc}]/gu, ' ');
  const caret = `${' '.repeat(column - from)}^`;
  // Another line could be taken for one of the file.
  const oneLine = message.replaceAll(/\s+/g, ' ');
  const number = Array.from(whole.slice(0, column)).length + 1;
  return { code, line, message: `column ${number}: ${oneLine}\n  ${shown}\n  ${caret}` };
}
