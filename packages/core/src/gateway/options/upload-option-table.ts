import { normalizeName, parseBoolean } from '../../endpoints/comment/lexer.ts';
import { nearestName } from '../../validation/suggestion.ts';
import {
  arrayOf,
  boolean,
  callback,
  integer,
  nonEmptyString,
  nullable,
  oneOf,
  optionGroup,
  type OptionValidators,
  recordOf,
  seconds,
  string,
  union,
  type Validator,
} from '../../validation/validators.ts';
import { commonUploadDefaults, commonUploadOptions, imageFormats } from '../../uploads/common-options.ts';
import { type DefaultUploadHandlerOptions, defaultUploadHandlers } from '../../uploads/default-handlers.ts';
import type { CsvUploadOptions } from '../../uploads/csv.ts';
import type { FileSystemUploadOptions } from '../../uploads/file-system.ts';
import { uploadDefaults, type UploadOptions } from './upload-options.ts';

const count = integer({ min: 1 });
const bytes = integer({ min: 1 });
const patterns = nullable(arrayOf(nonEmptyString));
const common = commonUploadOptions(commonUploadDefaults);

/** Returns the validator of an integer option, with its range in comments. */
function inRange(option: string): Validator<number> {
  const { min = 0, max } = common[option]!;
  return integer(max === undefined ? { min } : { min, max });
}

const fileSystem: OptionValidators<FileSystemUploadOptions> = {
  path: nonEmptyString,
  file: nullable(nonEmptyString),
  uniqueName: boolean,
  createPath: boolean,
};

const csv: OptionValidators<CsvUploadOptions> = {
  checkFormat: boolean,
  delimiters: string,
  hasFieldsEnclosedInQuotes: boolean,
  setWhiteSpaceToNull: boolean,
  rowCommand: nonEmptyString,
};

const defaultUploadHandlerOptions: OptionValidators<DefaultUploadHandlerOptions> = {
  stopAfterFirstSuccess: boolean,
  includedMimeTypes: patterns,
  excludedMimeTypes: patterns,
  bufferSize: inRange('buffer_size'),
  checkText: boolean,
  checkImage: union(boolean, arrayOf(oneOf(...imageFormats))),
  testBufferSize: inRange('test_buffer_size'),
  nonPrintableThreshold: inRange('non_printable_threshold'),
  fileSystem: optionGroup<Partial<FileSystemUploadOptions>>(fileSystem),
  csv: optionGroup<Partial<CsvUploadOptions>>(csv),
};

/** Words that a comment can have in place of a handler. */
const reserved: ReadonlySet<string> = new Set(['for', 'as', 'metadata']);

function handlerNameFault(name: string): string | null {
  if (!/^[A-Za-z][\w-]*$/.test(name)) return 'must be a name of letters, digits, - and _ that begins with a letter';
  if (reserved.has(normalizeName(name)) || parseBoolean(name) !== null)
    return 'is a word of the annotation upload; use another name';
  return null;
}

const uploads: OptionValidators<UploadOptions> = {
  enabled: boolean,
  logUploadEvent: boolean,
  defaultUploadHandler: nonEmptyString,
  defaultUploadHandlerOptions: nullable(optionGroup<Partial<DefaultUploadHandlerOptions>>(defaultUploadHandlerOptions)),
  uploadHandlers: nullable(recordOf(callback(), handlerNameFault)),
  defaultUploadMetadataContextKey: nonEmptyString,
  defaultUploadMetadataParameterName: nonEmptyString,
  useDefaultUploadMetadataContextKey: boolean,
  useDefaultUploadMetadataParameter: boolean,
  maxFileSize: bytes,
  maxTotalSize: bytes,
  maxFiles: count,
  maxParts: count,
  minUploadRate: integer({ min: 0 }),
  maxUploadConnections: nullable(count),
  uploadQueueTimeout: seconds,
};

const group = optionGroup<Partial<UploadOptions>>(uploads);

/** The validator of the group `uploadOptions`. */
export const uploadOptions: Validator<UploadOptions> = {
  ...(group as unknown as Validator<UploadOptions>),
  validate: (value, path) => {
    const faults = group.validate(value, path);
    if (faults.length > 0) return faults;
    const { defaultUploadHandler = null } = value as Partial<UploadOptions>;
    return handlerFaults({ ...uploadDefaults, ...(value as UploadOptions) }, defaultUploadHandler, path);
  },
};

/**
 * Returns the faults of handler names that are equal in comments, and of a default handler that does not exist.
 * @param defaultHandler null: not set by the host, whose handlers may have other names than the built-in ones
 */
function handlerFaults(options: UploadOptions, defaultHandler: string | null, path: string): readonly string[] {
  const names = handlerNames(options);
  const byName = new Map<string, string>();
  for (const name of names) {
    const other = byName.get(normalizeName(name));
    if (other !== undefined)
      return [
        `${path}.uploadHandlers: ${quote(other)} and ${quote(name)} are the same name in comments; rename one of them`,
      ];
    byName.set(normalizeName(name), name);
  }
  if (names.length === 0 || defaultHandler === null || byName.has(normalizeName(defaultHandler))) return [];
  const suggestion = nearestName(defaultHandler, names);
  const hint = suggestion === null ? '' : `; did you mean ${quote(suggestion)}?`;
  return [
    `${path}.defaultUploadHandler: must be one of the handlers ${names.map(quote).join(', ')}, not ${quote(defaultHandler)}${hint}`,
  ];
}

function handlerNames({ uploadHandlers, defaultUploadHandlerOptions }: UploadOptions): readonly string[] {
  if (uploadHandlers !== null) return Object.keys(uploadHandlers);
  return defaultUploadHandlerOptions === null ? [] : Object.keys(defaultUploadHandlers(defaultUploadHandlerOptions));
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 80));
