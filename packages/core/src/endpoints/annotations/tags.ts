import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  // A `for` line without tags ends the current scope.
  builder.enterScope(parsed.args.length === 0 ? builder.tags : parsed.args, parsed.line);
  builder.trace?.addEffect(
    parsed.line,
    `the lines after it ${builder.scope.applies ? 'apply' : 'do not apply'} to this endpoint`,
  );
  if (parsed.args.length === 0) {
    return { code: 'bad-argument', message: `${parsed.name} needs a tag; the lines after it apply to every endpoint` };
  }
  if (builder.scope.unknown.length === 0) return null;
  return {
    code: 'unknown-tag',
    message: `unknown tag ${builder.scope.unknown.map(display).join(', ')}; ${
      builder.scope.applies ? 'the lines after it apply' : 'the lines after it do not apply to this routine'
    }`,
  };
}

export const tags: Annotation = {
  names: ['tags', 'tag', 'for'],
  syntax: ['for <tag> …', 'tags <tag> …', 'tags = <tag>, …'],
  documentation:
    'Limits the lines after it, up to the next `for` line, to endpoints with one of the tags. Routines have the tags `function` or `procedure`, and `volatile`, `stable` or `immutable`.',
  isGuard: false,
  apply,
};
