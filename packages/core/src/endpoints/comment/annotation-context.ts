import type { EndpointUploadOptions } from '../upload-option.ts';

/** The facts about a routine and the gateway by which a line can be an annotation or prose. */
export interface AnnotationContext {
  /** Null: uploads are disabled. */
  readonly uploads: EndpointUploadOptions | null;
  /** The upload handlers of the endpoint; null for an endpoint without uploads. */
  readonly uploadHandlers: readonly string[] | null;
  /** Whether the routine has a parameter with this original or converted name. */
  readonly isParameter: (name: string) => boolean;
}

/** The context of a routine without parameters, without uploads. */
export const noContext: AnnotationContext = { uploads: null, uploadHandlers: null, isParameter: () => false };
