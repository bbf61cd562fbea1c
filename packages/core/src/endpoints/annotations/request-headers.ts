import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { RequestHeaders } from '../endpoint.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

const modes: readonly RequestHeaders['mode'][] = ['ignore', 'context', 'parameter'];

function apply(use: WordUse, draft: Draft): Complaint | null {
  const mode = modes.find((one) => one === use.text.toLowerCase());
  if (mode === undefined) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes ignore, context or parameter, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'requestHeadersMode', mode);
  return null;
}

export const requestHeaders: Word = {
  names: ['request_headers', 'request_headers_mode'],
  syntax: ['request_headers ignore | context | parameter'],
  documentation:
    'How the routine learns the headers of the request, as one JSON object: not at all, from a session setting, or from a json or text parameter with a default.',
  guards: true,
  supported: true,
  apply,
};
