import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { framingHeaderNames, responseHeaderNames } from '../comment/header-names.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { someText } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';

/** Characters that node:http rejects in header values: control characters except tab, and characters beyond Latin-1. */
const unsendable = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Warns of a value that node:http rejects, which makes each request fail with 500. */
function checkHeaderValue(parsed: ParsedAnnotation): AnnotationError | null {
  if (!unsendable.test(parsed.text)) return null;
  return {
    code: 'invalid-header-value',
    message: `${display(parsed.text)} contains characters that are not allowed in a header; every request would fail with 500`,
  };
}

function applyResponseHeader(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const name = parsed.name.toLowerCase();
  if (framingHeaderNames.has(name)) {
    return {
      code: 'framing-header',
      severity: 'error',
      message: `${display(parsed.name)} is set by the HTTP server and cannot be set here; remove the line, or begin it with two words if it is prose`,
    };
  }
  builder.headers.push({ name: parsed.name, value: parsed.text });
  builder.logEffect(parsed, `adds the response header ${display(parsed.text)}`);
  if (!responseHeaderNames.has(name) && !name.startsWith('x-')) {
    return {
      code: 'unknown-header',
      message: `${display(parsed.name)} is not a registered header name but becomes a response header; begin the line with two words if it is prose`,
    };
  }
  return checkHeaderValue(parsed);
}

/** Applies to each `<Name>: <value>` line whose name is not another annotation. */
export const responseHeader: Annotation = {
  names: [],
  heading: 'Response headers',
  syntax: ['<Name>: <value>'],
  documentation:
    'Adds a response header. A repeated name adds another value. `{name}` is replaced by the value of that parameter; NULL becomes an empty string.',
  isGuard: false,
  apply: applyResponseHeader,
};

const parseMediaType = someText('a media type');

export const contentType: MemberAnnotation<'contentType', string> = memberAnnotation({
  key: 'contentType',
  names: ['content_type'],
  syntax: ['Content-Type: <media type>', 'content_type = <media type>', 'content_type <media type>'],
  documentation:
    'The media type of the response. The body does not change. `{name}` is replaced by the value of that parameter.',
  isGuard: false,
  parse: (parsed, builder) => ({ ...parseMediaType(parsed, builder), problem: checkHeaderValue(parsed) }),
  member: 'contentType',
  resolve: (builder) => orDefault(builder, contentType, null, 'no content_type line'),
});
