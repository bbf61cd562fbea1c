import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** What happens to an endpoint whose comment uses a word that this version does not do yet. */
type Consequence =
  /** It guards access, identity or data: without it the endpoint would be open, so the endpoint stops. */
  | 'guards'
  /** The endpoint is right without it, only slower or less convenient. */
  | 'harmless';

function refusal(consequence: Consequence): Annotation['apply'] {
  return (use: ParsedAnnotation): AnnotationError => ({
    code: 'unsupported-word',
    severity: consequence === 'harmless' ? 'warning' : 'error',
    message: `${use.name} is not supported by this version yet${
      consequence === 'harmless' ? ' and has no effect' : '; the endpoint is not published without it'
    }; if the line is prose, begin it with another word`,
  });
}

function reserve(consequence: Consequence, names: string, syntax: string, documentation: string): Annotation {
  return {
    names: names.split(' '),
    syntax: [syntax],
    documentation,
    guards: consequence === 'guards',
    supported: false,
    apply: refusal(consequence),
  };
}

/** Words of the language that later versions do. Knowing them now is what keeps a comment from being half obeyed. */
export const reserved: readonly Annotation[] = [
  reserve('guards', 'upload', 'upload [for <handler> …] [<param> as metadata]', 'The endpoint takes file uploads.'),
];
