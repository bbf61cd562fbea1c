import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationContext } from './annotation-context.ts';
import type { AnnotationError, AnnotationForm, ParsedAnnotation } from './parsed-annotation.ts';

/** A definition of the annotation language. The reference documentation is generated from it. */
export interface Annotation {
  /** Lower case, with `_` between words. The first is the name, the others are synonyms. */
  readonly names: readonly string[];
  /** The heading in the documentation of an annotation without a name. */
  readonly heading?: string;
  /** The forms shown in the documentation: `authorize <role> …`. */
  readonly syntax: readonly string[];
  /** The effect, in Markdown sentences. */
  readonly documentation: string;
  /**
   * Whether it protects access, identity or data. A misspelt name or an invalid argument of a guard stops the endpoint,
   * instead of publishing it unprotected.
   */
  readonly isGuard: boolean;
  /** Whether `key = value` is the only form. A line that begins with the name is prose. */
  readonly assignmentOnly?: boolean;
  /** Returns whether the arguments belong to this annotation; otherwise the line is prose. Default: always. */
  readonly matches?: (args: readonly string[], context: AnnotationContext, form: AnnotationForm) => boolean;
  /** Returns the corrected line for misspelt arguments, or null. */
  readonly suggest?: (args: readonly string[], context: AnnotationContext) => string | null;
  /** Suppresses the warning about prose, because the syntax itself reads like a sentence. */
  readonly readsLikeSentence?: true;
  /** Applies the annotation to the endpoint builder. Returns the reason when it cannot. */
  readonly apply: (parsed: ParsedAnnotation, builder: EndpointBuilder) => AnnotationError | null;
}
