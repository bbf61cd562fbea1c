import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** Whether the routine has such a parameter is asked when the whole comment is read. */
function apply(use: WordUse, draft: Draft): Complaint | null {
  if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs the name of a parameter` };
  draft.set(use, 'requestHeadersParameterName', use.text);
  return null;
}

export const requestHeadersParameterName: Word = {
  names: ['request_headers_parameter_name', 'request_headers_param_name'],
  syntax: ['request_headers_parameter_name <name>', 'request_headers_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that takes the headers of the request where `request_headers` is `parameter`. It is of type json, jsonb, text or varchar and has a default.',
  guards: true,
  supported: true,
  apply,
};
