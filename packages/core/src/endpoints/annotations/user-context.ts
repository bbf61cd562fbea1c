import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function switching(key: 'userContext' | 'userParameters'): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    const value = use.text === '' ? true : parseBoolean(use.text);
    if (value === null) {
      return { code: 'bad-argument', message: `${use.name} takes an on or off word, not ${display(use.text)}` };
    }
    if (value && key === 'userParameters' && draft.routine.table !== undefined) {
      return { code: 'not-a-routine', message: `${use.name} is for routines; a table has user_context` };
    }
    draft.set(use, key, value);
    return null;
  };
}

export const userContext: Annotation = {
  names: ['user_context'],
  syntax: ['user_context', 'user_context = <on/off>'],
  documentation:
    'Tells the call who its caller is, by session settings: `request.user_id`, `request.user_name`, `request.user_roles`, `request.ip_address`.',
  guards: true,
  supported: true,
  apply: switching('userContext'),
};

export const userParameters: Annotation = {
  names: ['user_parameters', 'user_params'],
  syntax: ['user_parameters', 'user_parameters = <on/off>'],
  documentation:
    'Tells the call who its caller is, by parameters: `_user_id`, `_user_name`, `_user_roles`, `_user_claims`, `_ip_address`, those of them that the routine has. A request may not give them; for an anonymous caller they are NULL, or have their default.',
  guards: true,
  supported: true,
  apply: switching('userParameters'),
};
