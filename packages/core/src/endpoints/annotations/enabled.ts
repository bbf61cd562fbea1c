import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import { hasAnyTag, findUnknownTags } from '../tags.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import type { Setting } from '../comment/setting.ts';

/** Whether the endpoint is published, by the last line that applies. */
export const isEnabled: Setting<boolean> = { key: 'enabled' };

/** Applies without arguments, or with tags when the endpoint has one of them. */
function switching(value: boolean): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    // `enabled = false` disables; reading `false` as a tag would publish an endpoint that is meant to be hidden.
    const written = parsed.form === 'assignment' ? parseBoolean(parsed.text) : null;
    if (written !== null) {
      builder.set(parsed, isEnabled, written === value);
      return null;
    }
    if (parsed.args.length === 0 || hasAnyTag(builder.tags, parsed.args)) builder.set(parsed, isEnabled, value);
    const unknown = findUnknownTags(parsed.args);
    if (unknown.length === 0) return null;
    return {
      code: 'unknown-tag',
      message: `unknown tag ${unknown.map(display).join(', ')}; write ${parsed.name} without arguments, or with tags such as function or stable`,
    };
  };
}

export const enabled: Annotation = {
  names: ['enabled'],
  syntax: ['enabled', 'enabled <tag> …'],
  documentation: 'Reverts an earlier `disabled`, for all endpoints of the comment or for those with one of the tags.',
  isGuard: false,
  apply: switching(true),
};

/** Guards access: an argument that it does not understand stops the endpoint. */
export const disabled: Annotation = {
  names: ['disabled'],
  syntax: ['disabled', 'disabled <tag> …'],
  documentation:
    'Does not publish the endpoints of the comment, or those with one of the tags. The last matching `enabled` or `disabled` line wins.',
  isGuard: true,
  apply: switching(false),
};
