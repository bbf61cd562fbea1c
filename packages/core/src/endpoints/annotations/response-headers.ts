import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { framingHeaderNames, responseHeaderNames } from '../comment/header-names.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** What node:http refuses in a value: control characters but the tab, and what is beyond Latin-1. */
const unsendable = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/**
 * The request that meets such a value is answered 500, because templates may bring the same at any time; what can be seen
 * at start is told at start.
 */
export function checkHeaderValue(use: ParsedAnnotation): AnnotationError | null {
  if (!unsendable.test(use.text)) return null;
  return {
    code: 'invalid-header-value',
    message: `${display(use.text)} holds characters that no header can carry: every answer will be a 500`,
  };
}

function applyResponseHeader(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const name = use.name.toLowerCase();
  if (framingHeaderNames.has(name)) {
    return {
      code: 'framing-header',
      severity: 'error',
      message: `${display(use.name)} frames the answer and is not the author's to set; if the line is prose, begin it with two words`,
    };
  }
  draft.headers.push({ name: use.name, value: use.text });
  draft.note(use, `adds the response header ${display(use.text)}`);
  if (!responseHeaderNames.has(name) && !name.startsWith('x-')) {
    return {
      code: 'unknown-header',
      message: `${display(use.name)} becomes a response header, though it is no registered one; if the line is prose, begin it with two words`,
    };
  }
  return checkHeaderValue(use);
}

/** Not a keyword: whatever stands before a colon and is no other word. */
export const responseHeader: Annotation = {
  names: [],
  syntax: ['<Name>: <value>'],
  documentation:
    "A response header. The same name twice gives two values. `{name}` in the value is replaced by that parameter's value; NULL gives an empty string.",
  guards: false,
  supported: true,
  apply: applyResponseHeader,
};

function applyContentType(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (use.text === '') return { code: 'bad-argument', message: `${use.name} needs a media type` };
  draft.set(use, 'contentType', use.text);
  return checkHeaderValue(use);
}

export const contentType: Annotation = {
  names: ['content_type'],
  syntax: ['Content-Type: <media type>', 'content_type = <media type>', 'content_type <media type>'],
  documentation:
    "The media type of the response. The body stays as it is. `{name}` in it is replaced by that parameter's value.",
  guards: false,
  supported: true,
  apply: applyContentType,
};
