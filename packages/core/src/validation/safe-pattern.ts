import { RE2JS } from 're2js';

/** A regular expression that takes time in proportion to the text: no text of a request can make it slow. */
export interface SafePattern {
  /** Returns whether the text contains a match. */
  test(text: string): boolean;
}

/**
 * Compiles a pattern of RE2, a subset of JavaScript's without lookaround and backreferences. Documents publish patterns, so it must be
 * valid in JavaScript too.
 * @returns the reason when it is not valid
 */
export function compilePattern(source: string): SafePattern | string {
  try {
    void new RegExp(source, 'u');
    const compiled = RE2JS.compile(source);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    return (error as Error).message;
  }
}
