import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from './lexer.ts';
import type { AnnotationError, ParsedAnnotation } from './parsed-annotation.ts';
import type { ParseValue } from './value-annotation.ts';

/** Returns the value of an annotation without arguments or with a boolean value; null for other arguments. */
export function readSwitch(parsed: ParsedAnnotation): boolean | null {
  return parsed.text === '' ? true : parseBoolean(parsed.text);
}

/** Returns the parser of a boolean annotation. @param check returns why the routine cannot have the value, or null */
export function onOff(
  check: (parsed: ParsedAnnotation, builder: EndpointBuilder, value: boolean) => AnnotationError | null = () => null,
): ParseValue<boolean> {
  return (parsed, builder) => {
    const value = readSwitch(parsed);
    if (value === null)
      return { code: 'bad-argument', message: `${parsed.name} takes on or off, not ${display(parsed.text)}` };
    return check(parsed, builder, value) ?? { value };
  };
}

/** Parses a boolean annotation whose other arguments suggest prose. */
export const onOffOrProse: ParseValue<boolean> = (parsed) => {
  const value = readSwitch(parsed);
  if (value !== null) return { value };
  return {
    code: 'extra-arguments',
    message: `${parsed.name} takes no argument, or on or off; the line with ${display(parsed.text)} is ignored`,
    unusedArguments: parsed.args,
  };
};

/** Reports a line of a routine that is for tables and views only. */
export function tablesOnly(parsed: ParsedAnnotation, { routine }: EndpointBuilder): AnnotationError | null {
  if (routine.table !== undefined) return null;
  return { code: 'not-a-table', message: `${parsed.name} applies to tables and views only; remove the line` };
}

/** Returns the parser of an annotation that takes one of these words, in any case. @param expected the words in messages */
export function oneOf<Value extends string>(
  words: readonly Value[],
  expected: string = words.join(', '),
): ParseValue<Value> {
  return oneOfSynonyms(new Map(words.map((word) => [word, word])), expected);
}

/** @param values by the words of the line */
export function oneOfSynonyms<Value>(values: ReadonlyMap<string, Value>, expected: string): ParseValue<Value> {
  return (parsed) => {
    const value = values.get(parsed.text.toLowerCase().replaceAll('-', '_'));
    if (value !== undefined) return { value };
    return { code: 'bad-argument', message: `${parsed.name} takes ${expected}, not ${display(parsed.text)}` };
  };
}

/** Returns the parser of an annotation that takes any text. @param expected what is missing in an empty line, in messages */
export function someText(expected: string): ParseValue<string> {
  return (parsed) => {
    if (parsed.text === '') return { code: 'bad-argument', message: `${parsed.name} needs ${expected}` };
    return { value: parsed.text };
  };
}
