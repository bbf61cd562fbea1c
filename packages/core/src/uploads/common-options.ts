import type { UploadOptionDefinitions } from '../endpoints/upload-option.ts';

/** The image formats that `check_image` can list. */
export const imageFormats = ['jpg', 'jpeg', 'png', 'gif', 'bmp', 'tiff', 'webp'] as const;

/** Options that every handler has. */
export interface CommonUploadOptions {
  /** Whether a file that one handler has stored is ignored by the handlers after it. Default false. */
  readonly stopAfterFirstSuccess: boolean;
  /** Patterns of media types with `*` and `?`, one of which a file has to match; null: any type. Default null. */
  readonly includedMimeTypes: readonly string[] | null;
  /** Patterns of media types that are refused, even if they are included. Default null. */
  readonly excludedMimeTypes: readonly string[] | null;
  /** Bytes of one write to a file or a large object, at most 16,777,216. Default 1,048,576. */
  readonly bufferSize: number;
  /** Whether files that look binary are refused. Default false. */
  readonly checkText: boolean;
  /** Whether files have to be images, or the formats that are allowed: `jpg`, `jpeg`, `png`, `gif`, `bmp`, `tiff`, `webp`. Default false. */
  readonly checkImage: boolean | readonly (typeof imageFormats)[number][];
  /** Bytes at the beginning of a file that `checkText` reads. Default 4,096. */
  readonly testBufferSize: number;
  /** Control characters in these bytes beyond which a file looks binary. Default 5. */
  readonly nonPrintableThreshold: number;
}

export const commonUploadDefaults: CommonUploadOptions = Object.freeze({
  stopAfterFirstSuccess: false,
  includedMimeTypes: null,
  excludedMimeTypes: null,
  bufferSize: 1024 * 1024,
  checkText: false,
  checkImage: false,
  testBufferSize: 4096,
  nonPrintableThreshold: 5,
});

/** Returns the definitions of the common options, with these defaults. */
export function commonUploadOptions(defaults: CommonUploadOptions): UploadOptionDefinitions {
  return {
    stop_after_first_success: {
      type: 'boolean',
      description: 'Whether a file that one handler has stored is `Ignored` by the handlers after it.',
      default: defaults.stopAfterFirstSuccess,
    },
    included_mime_types: {
      type: 'list',
      description: 'Patterns of media types with `*` and `?`, one of which a file has to match.',
      default: defaults.includedMimeTypes,
    },
    excluded_mime_types: {
      type: 'list',
      description: 'Patterns of media types that are refused, even if they are included.',
      default: defaults.excludedMimeTypes,
    },
    buffer_size: {
      type: 'integer',
      description: 'Bytes of one write to a file or a large object.',
      min: 1,
      max: 16 * 1024 * 1024,
      default: defaults.bufferSize,
    },
    check_text: {
      type: 'boolean',
      description: 'Whether files that look binary are refused.',
      default: defaults.checkText,
    },
    check_image: {
      type: 'boolean',
      orList: true,
      items: imageFormats,
      description:
        'Whether files have to be images, or a list of the formats that are allowed: `jpg jpeg png gif bmp tiff webp`.',
      default: defaults.checkImage,
    },
    test_buffer_size: {
      type: 'integer',
      description: 'Bytes at the beginning of a file that `check_text` reads.',
      min: 1,
      max: 1024 * 1024,
      default: defaults.testBufferSize,
    },
    non_printable_threshold: {
      type: 'integer',
      description: 'Control characters in these bytes beyond which a file looks binary.',
      min: 0,
      max: 1024 * 1024,
      default: defaults.nonPrintableThreshold,
    },
  };
}
