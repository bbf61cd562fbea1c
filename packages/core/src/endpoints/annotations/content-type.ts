import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';
import { headerValueComplaint } from './response-header.ts';

function apply(use: WordUse, draft: Draft): Complaint | null {
  if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs a media type` };
  draft.set(use, 'contentType', use.text);
  return headerValueComplaint(use);
}

export const contentType: Word = {
  names: ['content_type'],
  syntax: ['Content-Type: <media type>', 'content_type = <media type>', 'content_type <media type>'],
  documentation:
    "The media type of the response. The body stays as it is. `{name}` in it is replaced by that parameter's value.",
  guards: false,
  supported: true,
  apply,
};
