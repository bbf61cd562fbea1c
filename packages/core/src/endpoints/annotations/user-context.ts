import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function applyToRoutine(key: 'userContext' | 'userParameters'): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    const value = parsed.text === '' ? true : parseBoolean(parsed.text);
    if (value === null) {
      return { code: 'bad-argument', message: `${parsed.name} takes on or off, not ${display(parsed.text)}` };
    }
    if (value && key === 'userParameters' && builder.routine.table !== undefined) {
      return {
        code: 'not-a-routine',
        message: `${parsed.name} applies to routines only; use user_context for tables and views`,
      };
    }
    builder.set(parsed, key, value);
    return null;
  };
}

export const userContext: Annotation = {
  names: ['user_context'],
  syntax: ['user_context', 'user_context = <on/off>'],
  documentation:
    'Passes the identity of the caller to the call as session settings: `request.user_id`, `request.user_name`, `request.user_roles`, `request.ip_address`.',
  isGuard: true,
  apply: applyToRoutine('userContext'),
};

export const userParameters: Annotation = {
  names: ['user_parameters', 'user_params'],
  syntax: ['user_parameters', 'user_parameters = <on/off>'],
  documentation:
    'Passes the identity of the caller to the parameters `_user_id`, `_user_name`, `_user_roles`, `_user_claims` and `_ip_address` that the routine has. Requests cannot set them. For anonymous callers they are NULL or have their default.',
  isGuard: true,
  apply: applyToRoutine('userParameters'),
};
