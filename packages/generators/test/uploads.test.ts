import type { Endpoint, EndpointUpload } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { httpDocuments } from '@pgway/generators/internal';
import { describe, expect, test } from 'vitest';
import { column, jsonb, returns, text } from '../../core/test/support/routine.ts';
import { planned } from './endpoints.ts';
import { complaints } from './open-api-validators.ts';
import { compile, moduleOf } from './support.ts';

type Options = EndpointUpload['options'];

/** `put_file(_folder text, _files jsonb)`, whose second parameter receives the metadata. */
function endpointWith(handlers: readonly string[], options: Options = {}): Endpoint {
  const [endpoint] = planned([
    {
      name: 'put_file',
      comment: 'HTTP POST\nparam_type query',
      parameters: [{ name: '_folder', type: text }],
      result: returns('scalar', [column('put_file', jsonb)]),
    },
  ]);
  return { ...endpoint!, upload: { handlers, options, metadataParameter: null } };
}

const sampleOf = (endpoint: Endpoint): string =>
  httpDocuments([endpoint], { commentHeader: 'none' })[0]!.content.split('\n').slice(2).join('\n');

describe('the OpenAPI document', () => {
  const problem = (description: string): object => ({ $ref: '#/components/responses/Problem', description });
  const operationOf = (...endpoints: readonly Endpoint[]): { requestBody: object; responses: object } =>
    (openApiDocument(endpoints)['paths'] as Record<string, Record<string, never>>)['/api/put-file']!['post']!;

  test('has a body of files, and the problems of uploads', async () => {
    const endpoint = endpointWith(['large_object']);
    const { requestBody, responses, ...operation } = operationOf(endpoint);
    expect(operation).toMatchObject({ parameters: [{ name: 'folder', in: 'query' }] });
    expect(requestBody).toEqual({
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            description: 'One or several files. Fields may have any name; those without a file are ignored.',
            properties: {
              file: {
                type: 'array',
                items: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
              },
            },
          },
        },
      },
    });
    expect(responses).toMatchObject({
      400: problem('Malformed form, invalid parameters, or an error that the routine raised'),
      408: problem('The upload is too slow'),
      413: problem('The form, a file, or their number exceeds a limit'),
      415: problem('The body is not multipart/form-data'),
      507: problem('The server has no space for the files'),
      '4XX': { $ref: '#/components/responses/Problem' },
    });
    expect(await complaints(openApiDocument([endpoint], { license: 'MIT' }))).toEqual([]);
  });

  test.each<readonly [string, readonly string[], Options, string | null]>([
    ['of the comment', ['csv'], { csv: { included_mime_types: 'text/csv, application/*' } }, 'text/csv, application/*'],
    [
      'of all handlers',
      ['a', 'b'],
      { a: { included_mime_types: 'a/b' }, b: { included_mime_types: 'c/d' } },
      'a/b, c/d',
    ],
    ['that one handler does not limit', ['a', 'b'], { a: { included_mime_types: 'a/b' } }, null],
    ['that depend on the request', ['a'], { a: { included_mime_types: '{type}' } }, null],
    ['that are no media ranges', ['a'], { a: { included_mime_types: 'image/x-?' } }, null],
  ])('media types %s', async (_, handlers, options, types) => {
    const endpoint = endpointWith(handlers, options);
    const encoding = types === null ? {} : { encoding: { file: { contentType: types } } };
    expect(operationOf(endpoint).requestBody).toEqual({
      required: true,
      content: { 'multipart/form-data': { schema: expect.any(Object), ...encoding } },
    });
    expect(await complaints(openApiDocument([endpoint], { license: 'MIT' }))).toEqual([]);
  });

  test('overloads with different media types have no encoding', () => {
    const png = endpointWith(['a'], { a: { included_mime_types: 'image/png' } });
    const any = endpointWith(['a']);
    const media = { content: { 'multipart/form-data': { schema: expect.any(Object) } } };
    expect(operationOf(png, any).requestBody).toEqual({ required: true, ...media });
  });
});

describe('the request file', () => {
  test.each<readonly [string, EndpointUpload['handlers'], Options, string]>([
    ['text', ['large_object'], {}, 'filename="sample.txt"\nContent-Type: text/plain\n\nsample\n'],
    ['CSV', ['csv'], {}, 'filename="sample.csv"\nContent-Type: text/csv\n\nfirst,second\n1,2\n'],
    [
      'an image',
      ['a'],
      { a: { check_image: 'png' } },
      'filename="sample.png"\nContent-Type: image/png\n\n< ./sample.png\n',
    ],
    ['no image', ['a'], { a: { check_image: 'false' } }, 'filename="sample.txt"\nContent-Type: text/plain\n\nsample\n'],
  ])('has a form with %s', (_, handlers, options, file) => {
    expect(sampleOf(endpointWith(handlers, options))).toBe(`POST {{host}}/api/put-file?folder=ABC
Content-Type: multipart/form-data; boundary=part

--part
Content-Disposition: form-data; name="file"; ${file}--part--
`);
  });
});

describe('the TypeScript client', () => {
  const everything = endpointWith(['large_object', 'file_system', 'csv', 'excel', 'store']);

  test('has a type for the metadata of the handlers in use', () => {
    expect(moduleOf([everything])).toContain(`export type IUploadMetadata =
  | (IUploadedFile & { type: "csv"; lastResult?: unknown })
  | (IUploadedFile & { type: "excel"; sheet: string | null; lastResult?: unknown })
  | (IUploadedFile & { type: "file_system"; filePath: string | null })
  | (IUploadedFile & { type: "large_object"; oid: number | null })
  | (IUploadedFile & { type: "store"; [member: string]: unknown });
`);
    expect(moduleOf([endpointWith(['large_object'])])).toContain(`export type IUploadMetadata =
  | (IUploadedFile & { type: "large_object"; oid: number | null });
`);
  });

  test('tells the handlers apart in strict mode', async () => {
    const use = `import { type IUploadMetadata, putFile } from './client.ts';
export async function pathsOf(file: File): Promise<(string | number | null)[]> {
  const files: IUploadMetadata[] = JSON.parse(String(await putFile(file, { folder: 'a' }, { onProgress: ({ loaded, total }) => void (loaded / total) })));
  return files.map((item) => {
    switch (item.type) {
      case 'file_system':
        return item.filePath;
      case 'large_object':
        return item.oid;
      case 'excel':
        return item.sheet;
      default:
        return item.success ? item.fileName : item.status;
    }
  });
}`;
    const client = { path: 'client.ts', content: moduleOf([everything]) };
    expect(await compile([client, { path: 'use.ts', content: use }])).toBe('');
  });
});
