const start = '\u001b[1;33m';
const end = '\u001b[0m';

/** Marks the matches of the expression in a line for a terminal. Empty matches are not marked. */
export function highlight(line: string, expression: RegExp, hasColors: boolean): string {
  if (!hasColors) return line;
  const all = new RegExp(expression.source, expression.flags.includes('g') ? expression.flags : `${expression.flags}g`);
  return line.replace(all, (match) => (match === '' ? '' : `${start}${match}${end}`));
}

/** Returns an expression for the text itself, without case. */
export function textExpression(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}
