import { normalizeName, parseBoolean } from '../../endpoints/comment/lexer.ts';
import { defaultUploadHandlers } from '../../uploads/default-handlers.ts';
import { defaultUploadHandlerOptions } from '../../uploads/options.ts';
import { defaultsOf, option, optionGroup, type OptionGroup, partOf } from '../../validation/option.ts';
import type { Fault } from '../../validation/fault.ts';
import { nearestName } from '../../validation/suggestion.ts';
import { boolean, callback, integer, nonEmptyString, nullable, number, recordOf } from '../../validation/validators.ts';
import type { UploadOptions } from './options.generated.ts';

export type { UploadOptions } from './options.generated.ts';

const count = integer({ min: 1, max: 1_000_000 });
const bytes = integer({ min: 1 });

/** Words that a comment can have in place of a handler. */
const reserved: ReadonlySet<string> = new Set(['for', 'as', 'metadata']);

function handlerNameFault(name: string): string | null {
  if (!/^[A-Za-z][\w-]*$/.test(name)) return 'must be a name of letters, digits, - and _ that begins with a letter';
  if (reserved.has(normalizeName(name)) || parseBoolean(name) !== null)
    return 'is a word of the annotation upload; use another name';
  return null;
}

export const uploadOptions: OptionGroup<UploadOptions> = optionGroup<UploadOptions>(
  'UploadOptions',
  'File uploads: endpoints with `upload` in their comment.',
  {
    enabled: option(boolean, true, 'False: an endpoint with `upload` in its comment is an error.'),
    logUploadEvent: option(boolean, true, 'Whether each upload is logged.'),
    defaultUploadHandler: option(nonEmptyString, 'large_object', 'The handler of comments that name none.'),
    uploadHandlers: option(
      nullable(
        recordOf(
          callback('UploadHandlerFactory', { UploadHandlerFactory: '../../ports/upload-handler.ts' }),
          handlerNameFault,
        ),
      ),
      null,
      'The handlers by the names that comments use. Null: the built-in ones, with `defaultUploadHandlerOptions`. An empty object disables uploads. Otherwise exactly these.',
    ),
    defaultUploadMetadataContextKey: option(
      nonEmptyString,
      'request.upload_metadata',
      'The setting that receives the metadata of the files as JSON.',
    ),
    defaultUploadMetadataParameterName: option(
      nonEmptyString,
      '_upload_metadata',
      'The parameter that receives the metadata of the files as JSON.',
    ),
    useDefaultUploadMetadataContextKey: option(
      boolean,
      false,
      'Whether calls after an upload have the setting `defaultUploadMetadataContextKey`.',
    ),
    useDefaultUploadMetadataParameter: option(
      boolean,
      false,
      'Whether parameters named `defaultUploadMetadataParameterName` receive the metadata without being named in the comment.',
    ),
    maxFileSize: option(bytes, 128 * 1024 * 1024, 'Maximum bytes of a file; a larger one is answered 413.'),
    maxTotalSize: option(bytes, 256 * 1024 * 1024, 'Maximum bytes of the whole body; a larger one is answered 413.'),
    maxFiles: option(count, 20, 'Maximum number of files of a form; a further one is answered 413.'),
    maxParts: option(
      count,
      100,
      'Maximum number of files and fields of a form together; a further one is answered 413.',
    ),
    minUploadRate: option(
      integer({ min: 0, max: 1_073_741_824 }),
      1024,
      'Bytes per second; a client that is more than `slowClientTimeout` behind is answered 408, as its upload holds a connection. 0: no minimum.',
    ),
    maxUploadConnections: option(
      nullable(integer({ min: 1, max: 10_000 })),
      null,
      'Maximum number of connections to each database that uploads hold; null: half of its connections, at least one.',
    ),
    uploadQueueTimeout: option(
      number({ above: 0, max: 86_400 }),
      60,
      'Seconds that an upload waits for one of these connections before it is answered 503.',
    ),
    defaultUploadHandlerOptions: option(
      nullable(partOf(defaultUploadHandlerOptions)),
      {},
      'The options of the built-in handlers, which comments override. Null: uploads are disabled.',
    ),
  },
  { check: handlerFaults },
);

/** Returns the faults of handler names that are equal in comments, and of a default handler that does not exist. */
function handlerFaults(value: Readonly<Record<string, unknown>>): readonly Fault[] {
  const given = value as Partial<UploadOptions>;
  const { defaultUploadHandler = null } = given;
  const names = handlerNames({ ...defaultsOf(uploadOptions), ...given });
  const byName = new Map<string, string>();
  for (const name of names) {
    const other = byName.get(normalizeName(name));
    if (other !== undefined) {
      const message = `${quote(other)} and ${quote(name)} are the same name in comments; rename one of them`;
      return [{ path: ['uploadHandlers'], message }];
    }
    byName.set(normalizeName(name), name);
  }
  // The host may have other handlers than the built-in ones without setting a default.
  if (names.length === 0 || defaultUploadHandler === null || byName.has(normalizeName(defaultUploadHandler))) return [];
  const suggestion = nearestName(defaultUploadHandler, names);
  const hint = suggestion === null ? '' : `; did you mean ${quote(suggestion)}?`;
  const list = names.map(quote).join(', ');
  const message = `must be one of the handlers ${list}, not ${quote(defaultUploadHandler)}${hint}`;
  return [{ path: ['defaultUploadHandler'], message }];
}

function handlerNames({ uploadHandlers, defaultUploadHandlerOptions: options }: UploadOptions): readonly string[] {
  if (uploadHandlers !== null) return Object.keys(uploadHandlers);
  return options === null ? [] : Object.keys(defaultUploadHandlers(options));
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 80));
