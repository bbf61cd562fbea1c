import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { readUploadOptionKey } from '../comment/upload-option-line.ts';

/** Values are checked after the whole comment has been parsed: their templates need the parameters. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const key = readUploadOptionKey(parsed.name, builder.context);
  switch (key?.kind) {
    case 'options':
      for (const { handler, option, isPrefixed } of key.options)
        builder.uploadSettings.push({ handler, option, isPrefixed, text: parsed.rawText, line: parsed.line });
      builder.logEffect(parsed, `sets the upload option to ${display(parsed.rawText)}`);
      return null;
    case 'unused':
      return {
        code: 'unused-option',
        severity: 'warning',
        message: `${display(parsed.name)} is an option of the upload handler ${key.handler}, which the endpoint does not use; remove the line, or add the handler to upload for`,
      };
    case 'unknown':
      return {
        code: 'unknown-option',
        message: `${display(parsed.name)} is not an option of the upload handler ${key.handler}; its options are ${key.options.join(', ')}`,
      };
    default:
      return null;
  }
}

/** Applies to each `key = value` line of an endpoint with uploads whose key is an option of its handlers. */
export const uploadOption: Annotation = {
  names: [],
  heading: 'Upload options',
  syntax: ['<option> = <value>', '<handler>_<option> = <value>'],
  documentation:
    'Sets an option of the upload handlers of an endpoint with `upload`: of every handler that has the option, or of the named one, which takes precedence. `{name}` is replaced by the value of that parameter, except in SQL. The options of the built-in handlers are listed below.',
  isGuard: true,
  apply,
};
