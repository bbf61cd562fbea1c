import fc from 'fast-check';

/**
 * Any Unicode code point but a surrogate, as the `unit` of `fc.string`: NUL and other controls, ASCII, the other characters of the basic plane,
 * and those of two UTF-16 code units. `unit: 'binary'` of fast-check computes for 1.5 s in each process, and nine in ten of its characters have two
 * code units.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    { weight: 2, arbitrary: fc.integer({ min: 0x80, max: 0xd7ff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0xffff }) },
    { weight: 3, arbitrary: fc.integer({ min: 0x1_0000, max: 0x10_ffff }) },
  )
  .map(
    (code) => String.fromCodePoint(code),
    // With its inverse, strings of fast-check are also names such as `__proto__`.
    toCode,
  );

function toCode(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one code point');
  return code;
}
