/** The multipart body of uploads, and the problems that only they have. */

import type { Endpoint, EndpointUpload } from '@pgway/core';
import type { Content } from './responses.ts';
import { type JsonSchema } from './schema.ts';

/** `format: binary` of OpenAPI 3.0 is for tools that do not know `contentMediaType` of JSON Schema. */
const fileSchema: JsonSchema = {
  type: 'string',
  format: 'binary',
  contentMediaType: 'application/octet-stream',
};

const formSchema: JsonSchema = {
  type: 'object',
  description: 'One or several files. Fields may have any name; those without a file are ignored.',
  properties: { file: { type: 'array', items: fileSchema } },
};

/** Returns the content of the request body. */
export function multipartContent(upload: EndpointUpload): Content {
  const types = acceptedTypes(upload);
  const encoding = types === null ? {} : { encoding: { file: { contentType: types.join(', ') } } };
  return { 'multipart/form-data': { schema: formSchema, ...encoding } };
}

/** Returns the media types that comments allow; null: any, or only known for a request. */
function acceptedTypes({ handlers, options }: EndpointUpload): readonly string[] | null {
  const lists = handlers.map((handler) => options[handler]?.['included_mime_types']);
  if (lists.length === 0 || lists.some((list) => list === undefined)) return null;
  const types = [...new Set(lists.flatMap((list) => list!.split(',').map((type) => type.trim())))].filter(Boolean);
  // Other patterns are not media ranges (RFC 9110, 12.5.1).
  return types.every((type) => /^[\w.+-]+\/(?:[\w.+-]+|\*)$/.test(type)) ? types : null;
}

const descriptions = {
  400: 'Malformed form, invalid parameters, or an error that the routine raised',
  408: 'The upload is too slow',
  413: 'The form, a file, or their number exceeds a limit',
  415: 'The body is not multipart/form-data',
  507: 'The server has no space for the files',
} as const;

/** Returns the responses to failed uploads. */
export function uploadProblems(endpoints: readonly Endpoint[]): JsonSchema {
  if (endpoints.every(({ upload }) => upload === null)) return {};
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [
      status,
      { $ref: '#/components/responses/Problem', description },
    ]),
  );
}
