/** Comparison of JSON values, and the differences as lines. */
import { isDeepStrictEqual } from 'node:util';
import { ExactNumber } from './exact-json.ts';

/** Whether the value contains the expected one, as `@>` of `jsonb` does: further members and elements are allowed. */
export function contains(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return Array.isArray(value) && expected.every((item) => value.some((candidate) => contains(candidate, item)));
  if (!isObject(expected)) return isEqual(value, expected);
  return (
    isObject(value) &&
    Object.entries(expected).every(([key, item]) => Object.hasOwn(value, key) && contains(value[key], item))
  );
}

export function isEqual(value: unknown, expected: unknown): boolean {
  return isDeepStrictEqual(value, expected);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** More lines are not compared with each other: their number squared is the cost. */
const maxLines = 400;

/** Returns the lines of both texts: `-` before those that only the expected one has, `+` before those of the actual one. */
export function differences(expected: string, actual: string): readonly string[] {
  const [left, right] = [expected.split('\n'), actual.split('\n')];
  if (left.length > maxLines || right.length > maxLines)
    return [
      ...left.slice(0, maxLines).map((line) => `- ${line}`),
      ...right.slice(0, maxLines).map((line) => `+ ${line}`),
    ];
  const lengths = commonLengths(left, right);
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    if (row < left.length && left[row] === right[column]) {
      lines.push(`  ${left[row]!}`);
      row++;
      column++;
    } else if (
      column >= right.length ||
      (row < left.length && lengths[row + 1]![column]! >= lengths[row]![column + 1]!)
    )
      lines.push(`- ${left[row++]!}`);
    else lines.push(`+ ${right[column++]!}`);
  }
  return lines;
}

/** Returns the lengths of the longest common subsequences of the rest from each pair of lines. */
function commonLengths(left: readonly string[], right: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: left.length + 1 }, () => Array.from({ length: right.length + 1 }, () => 0));
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--)
      lengths[row]![column] =
        left[row] === right[column]
          ? lengths[row + 1]![column + 1]! + 1
          : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!);
  }
  return lengths;
}
