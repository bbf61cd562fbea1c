import { display } from '../diagnostic.ts';
import type { Draft } from '../endpoint-builder.ts';
import { switchValue } from '../comment/boolean-values.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

function switching(key: 'userContext' | 'userParameters'): Word['apply'] {
  return (use: WordUse, draft: Draft): Complaint | null => {
    const value = use.text === '' ? true : switchValue(use.text);
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

export const userContext: Word = {
  names: ['user_context'],
  syntax: ['user_context', 'user_context = <on/off>'],
  documentation:
    'Tells the call who its caller is, by session settings: `request.user_id`, `request.user_name`, `request.user_roles`, `request.ip_address`.',
  guards: true,
  supported: true,
  apply: switching('userContext'),
};

export const userParameters: Word = {
  names: ['user_parameters', 'user_params'],
  syntax: ['user_parameters', 'user_parameters = <on/off>'],
  documentation:
    'Tells the call who its caller is, by parameters: `_user_id`, `_user_name`, `_user_roles`, `_user_claims`, `_ip_address`, those of them that the routine has. A request may not give them; for an anonymous caller they are NULL, or have their default.',
  guards: true,
  supported: true,
  apply: switching('userParameters'),
};
