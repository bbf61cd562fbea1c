import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import { hasAnyTag, findUnknownTags } from '../tags.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** One effect for `enabled` and `disabled`: alone it applies, with tags when the endpoint carries one of them. */
function switching(value: boolean): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    // `enabled = false` can only mean one thing, and taking `false` for a tag would publish what the author hides.
    const written = use.form === 'assignment' ? parseBoolean(use.text) : null;
    if (written !== null) {
      draft.set(use, 'enabled', written === value);
      return null;
    }
    if (use.words.length === 0 || hasAnyTag(draft.tags, use.words)) draft.set(use, 'enabled', value);
    const unknown = findUnknownTags(use.words);
    if (unknown.length === 0) return null;
    return {
      code: 'unknown-tag',
      message: `no endpoint carries the tag ${unknown.map(display).join(', ')}; write ${use.name} alone, or with tags such as function or stable`,
    };
  };
}

export const enabled: Annotation = {
  names: ['enabled'],
  syntax: ['enabled', 'enabled <tag> …'],
  documentation:
    'Takes an earlier `disabled` back, for all endpoints of the comment or for those that carry one of the tags.',
  guards: false,
  supported: true,
  apply: switching(true),
};

/** It hides an endpoint, so what it does not understand stops the endpoint. */
export const disabled: Annotation = {
  names: ['disabled'],
  syntax: ['disabled', 'disabled <tag> …'],
  documentation:
    'Publishes no endpoint, at all or where it carries one of the tags. The last of `enabled` and `disabled` that applies wins.',
  guards: true,
  supported: true,
  apply: switching(false),
};
