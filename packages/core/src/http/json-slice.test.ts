import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentSlice, type JsonSlice, readElements, readMembers, sliceToText } from './json-slice.ts';

/** Values are found without reading what stands before them. */

function toValue(slice: JsonSlice): unknown {
  if (slice.kind === 'array') return readElements(slice).map(toValue);
  if (slice.kind === 'object')
    return Object.fromEntries([...readMembers(slice)].map(([key, each]) => [key, toValue(each)]));
  return slice.kind === 'string' ? sliceToText(slice) : (JSON.parse(sliceToText(slice)) as unknown);
}

const hostileTexts = fc
  .array(fc.constantFrom('"', '\\', ',', ':', '[', ']', '{', '}', ' ', 'a', '\n', 'é', '😀'))
  .map((parts) => parts.join(''));
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    hostileTexts,
    fc.constantFrom(null, true, false, 0, -1.5, 1e300),
    fc.array(tie('value')),
    fc.dictionary(
      hostileTexts.filter((key) => key !== '__proto__'),
      tie('value'),
    ),
  ),
})).value;

test('all values of a document are found, whatever its strings and white space are', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, ' ', '\t', '\r\n'), (value, space) => {
      expect(toValue(documentSlice(JSON.stringify(value, null, space)))).toEqual(value);
    }),
  );
});
