import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { int4, jsonb, routine, text, textArray } from '../../test/support/routine.ts';
import { commentOptions } from '../uploads/comment-options.ts';
import { commonUploadOptions } from '../uploads/options.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import type { Endpoint, EndpointUpload } from './endpoint.ts';
import { endpointDefaults, type EndpointOptions } from './options.ts';
import type { EndpointUploadOptions, UploadOptionDefinition } from './upload-option.ts';

const option = (type: UploadOptionDefinition['type']): UploadOptionDefinition => ({
  type,
  description: '',
  default: null,
});
const common = commentOptions(commonUploadOptions);

/** Handlers with the names and options of the built-in ones, and one of the host. */
const uploads: EndpointUploadOptions = {
  handlers: {
    large_object: { ...common, oid: { ...option('integer'), min: 1 } },
    file_system: { ...common, path: option('text'), file: option('text'), unique_name: option('boolean') },
    csv: { ...common, check_format: option('boolean'), delimiters: option('text'), row_command: option('sql') },
    bucket: { path: option('text'), timeout: option('integer') },
  },
  defaultHandler: 'large_object',
  metadataParameterName: null,
};

type Sketch = NonNullable<Parameters<typeof routine>[0]>;

const parameters: NonNullable<Sketch['parameters']> = [
  { name: '_title', type: text },
  { name: '_meta', type: jsonb },
];

function build(
  comment: string,
  sketch: Sketch = {},
  options: Partial<EndpointOptions> = {},
): ReturnType<typeof buildEndpoints> {
  return buildEndpoints([routine({ parameters, comment: `HTTP\n${comment}`, ...sketch })], {
    ...endpointDefaults,
    logAnnotationSetInfo: false,
    uploads,
    ...options,
  });
}

/** Returns the endpoint of a comment without diagnostics. */
function only(comment: string, sketch: Sketch = {}, options: Partial<EndpointOptions> = {}): Endpoint {
  const { endpoints, diagnostics } = build(comment, sketch, options);
  expect(diagnostics).toEqual([]);
  return endpoints[0]!;
}

/** Returns the diagnostics of a comment, whose lines count from 2, such as `error near-miss 2`. */
function verdict(
  comment: string,
  sketch: Sketch = {},
  options: Partial<EndpointOptions> = {},
): readonly (string | boolean)[] {
  const { endpoints, diagnostics } = build(comment, sketch, options);
  return [
    endpoints.length === 1,
    ...diagnostics.map(({ severity, code, line }) => `${severity} ${code}${line === null ? '' : ` ${line}`}`),
  ];
}

/** Returns the message of the only diagnostic. */
function message(comment: string, sketch: Sketch = {}, options: Partial<EndpointOptions> = {}): string {
  const { diagnostics } = build(comment, sketch, options);
  expect(diagnostics).toHaveLength(1);
  return diagnostics[0]!.message;
}

describe('the line upload', () => {
  test.each<readonly [string, readonly string[], number | null]>([
    ['upload', ['large_object'], null],
    ['@upload', ['large_object'], null],
    ['UPLOAD FOR CSV', ['csv'], null],
    ['upload for csv', ['csv'], null],
    ['upload for csv, file_system', ['csv', 'file_system'], null],
    ['upload for csv file-system', ['csv', 'file_system'], null],
    ['upload for csv, csv', ['csv'], null],
    ['upload _meta as metadata', ['large_object'], 2],
    ['upload meta as metadata', ['large_object'], 2],
    ['upload for csv, file_system _meta as metadata', ['csv', 'file_system'], 2],
    ['upload = csv', ['csv'], null],
    ['upload = for csv, file_system', ['csv', 'file_system'], null],
    ['upload = csv _meta as metadata', ['csv'], 2],
    ['upload = _meta as metadata', ['large_object'], 2],
    ['upload = on', ['large_object'], null],
    ['upload for csv\nupload _meta as metadata', ['csv'], 2],
    ['upload _meta as metadata\nupload for csv', ['csv'], 2],
    ['upload\nparam _meta is upload metadata', ['large_object'], 2],
    ['param meta is upload metadata\nupload for csv', ['csv'], 2],
    ['Parameter _meta is upload metadata\nupload _meta as metadata', ['large_object'], 2],
  ])('%j', (comment, handlers, metadataParameter) => {
    const { upload, method, parameterSource } = only(comment);
    expect({
      handlers: upload?.handlers,
      metadataParameter: upload?.metadataParameter,
      method,
      parameterSource,
    }).toEqual({
      handlers,
      metadataParameter,
      method: 'POST',
      parameterSource: 'query',
    });
  });

  test.each([
    'Upload a cover image',
    'Uploads a file to the store',
    'Upload the cover of a book as metadata of it.',
    'Upload for the members of the library',
    'Upload files, then call it',
    'upload = off',
    'Uploads',
  ])('%j is prose, or switches it off', (comment) => {
    expect(only(comment).upload).toBeNull();
  });

  test.each<readonly [string, string]>([
    ['upload fro csv', 'upload for csv'],
    ['upload for', 'upload for <handler>'],
    ['upload for _meta as metadata', 'upload for <handler> _meta as metadata'],
    ['upload csv', 'upload for csv'],
    ['upload `csv`', 'upload for csv'],
    ['upload csv and file_system', 'upload for csv, file_system'],
    ['upload with file-sytem', 'upload for file_system'],
    ['upload _meta as metdata', 'upload _meta as metadata'],
    ['upload x as metdata', 'upload x as metadata'],
    ['upload _meta is metadata', 'upload _meta as metadata'],
    ['upload metadata as _meta', 'upload _meta as metadata'],
    ['upload _meta', 'upload _meta as metadata'],
    ['upload as metadata', 'upload <param> as metadata'],
    ['upload on', 'upload = on'],
    ['upload =', 'upload = <handler>'],
  ])('%j is nearly the annotation', (comment, correction) => {
    expect(verdict(comment)).toEqual([false, 'error bad-argument 2']);
    expect(message(comment)).toContain(`did you mean "${correction}"?`);
  });

  test.each<readonly [string, string]>([
    ['uplaod for csv', 'upload for csv'],
    ['uplod', 'upload'],
    ['uplaod _meta as metadata', 'upload _meta as metadata'],
    ['upload: csv', 'upload for csv'],
    ['uplaod = csv', 'upload for csv'],
    ['- upload for csv', 'upload for csv'],
    ['uploads for csv', 'upload for csv'],
    ['* param _meta is upload metadata', 'param _meta is upload metadata'],
  ])('%j has a misspelt keyword', (comment, correction) => {
    expect(verdict(comment)).toEqual([false, 'error near-miss 2']);
    expect(message(comment)).toContain(`did you mean "${correction}"?`);
  });

  test('an unknown handler is reported with the known ones and a suggestion', () => {
    expect(verdict('upload for cvs')).toEqual([false, 'error unknown-handler 2']);
    expect(message('upload for fil_system')).toBe(
      '"fil_system" is not an upload handler; the handlers are large_object, file_system, csv, bucket; did you mean "file_system"?',
    );
    expect(message('upload = __proto__')).toBe(
      '"__proto__" is not an upload handler; the handlers are large_object, file_system, csv, bucket',
    );
    expect(verdict('upload for constructor')).toEqual([false, 'error unknown-handler 2']);
  });

  test('with uploads disabled, the line is an error that names the options', () => {
    const disabled = { uploads: null };
    expect(message('upload', {}, disabled)).toBe(
      'upload needs an upload handler, but uploads are disabled; see uploadOptions.enabled, uploadOptions.uploadHandlers and uploadOptions.defaultUploadHandlerOptions',
    );
    expect(verdict('upload for csv', {}, disabled)).toEqual([false, 'error uploads-disabled 2']);
    expect(verdict('Upload a cover image\ncheck_text = true', {}, disabled)).toEqual([true]);
  });

  test('on the line of another annotation, it is an error', () => {
    expect(verdict('path /x upload')).toEqual([false, 'error extra-arguments 2']);
  });
});

describe('the metadata parameter', () => {
  test.each<readonly [string, Sketch, string]>([
    ['upload _other as metadata', {}, 'error unknown-parameter 2'],
    ['upload _title as metadata\nparam _meta is upload metadata', {}, 'error contradiction 3'],
    ['upload _meta as metadata', { parameters: [{ name: '_meta', type: int4 }] }, 'error metadata-parameter 2'],
    ['upload _meta as metadata', { parameters: [{ name: '_meta', type: textArray }] }, 'error metadata-parameter 2'],
    ['path /x/{_meta}\nupload _meta as metadata', {}, 'error metadata-parameter 3'],
    ['upload _title as metadata\nparam _title is user_id', {}, 'error metadata-parameter 2'],
    ['upload _title as metadata\nparam _title is hash of _title', {}, 'error metadata-parameter 2'],
    [
      'upload _meta as metadata\nparam _title is hash of _meta',
      { parameters: [{ name: '_title' }, { name: '_meta' }] },
      'error metadata-parameter 2',
    ],
    ['param _meta is upload metadata', {}, 'error no-upload 2'],
    ['upload = off\nparam _meta is upload metadata', {}, 'error no-upload 3'],
    ['param _meta is upload metdata', {}, 'error bad-argument 2'],
    ['param _meta is uplaod metadata', {}, 'error bad-argument 2'],
    ['param _meta is upload_metadata', {}, 'error bad-argument 2'],
    ['param _meta = upload metadata', {}, 'error bad-argument 2'],
    ['_meta is upload metadata', {}, 'error near-miss 2'],
    ['_meta = upload metadata', {}, 'error near-miss 2'],
  ])('%j with %j: %s', (comment, sketch, report) => {
    expect(verdict(comment, sketch)).toEqual([false, report]);
  });

  test('the name of the option selects it without a line', () => {
    const named = { uploads: { ...uploads, metadataParameterName: '_meta' } };
    expect(only('upload', {}, named).upload?.metadataParameter).toBe(2);
    expect(only('upload _title as metadata', {}, named).upload?.metadataParameter).toBe(1);
    expect(only('upload', { parameters: [{ name: 'meta' }] }, named).upload?.metadataParameter).toBe(1);
    expect(only('upload', { parameters: [{ name: 'a' }] }, named).upload?.metadataParameter).toBeNull();
    expect(only('', {}, named).upload).toBeNull();
    expect(verdict('upload', { parameters: [{ name: '_meta', type: int4 }] }, named)).toEqual([
      false,
      'error metadata-parameter',
    ]);
  });

  test('the request headers do not go to it', () => {
    const sketch: Sketch = { parameters: [{ name: '_meta', type: jsonb, hasDefault: true }] };
    expect(
      verdict('upload _meta as metadata\nrequest_headers parameter\nrequest_headers_parameter_name _meta', sketch),
    ).toEqual([false, 'error request-headers-parameter 4']);
  });
});

describe('options of handlers', () => {
  test.each<readonly [string, EndpointUpload['options']]>([
    ['upload\ncheck_text = true', { large_object: { check_text: 'true' } }],
    ['check_text = true\nupload', { large_object: { check_text: 'true' } }],
    ['upload for csv\nCheck-Text = on', { csv: { check_text: 'on' } }],
    ['upload for csv\ncsv-delimiters = ;', { csv: { delimiters: ';' } }],
    [String.raw`upload for csv` + '\n' + String.raw`delimiters = ,;\t`, { csv: { delimiters: ',;\t' } }],
    ['upload for csv\ndelimiters = ,', { csv: { delimiters: ',' } }],
    [
      'upload for csv, file_system\ncheck_text = true',
      { csv: { check_text: 'true' }, file_system: { check_text: 'true' } },
    ],
    [
      'upload for csv, file_system\nfile_system_check_text = false\ncheck_text = true',
      { csv: { check_text: 'true' }, file_system: { check_text: 'false' } },
    ],
    ['upload for file_system\nfile_system_path = ./covers', { file_system: { path: './covers' } }],
    ['upload\ncheck_text = true\ncheck_text = false', { large_object: { check_text: 'false' } }],
    ['upload\ncheck_text = {title}', { large_object: { check_text: '{title}' } }],
    ['upload\noid = {_title}', { large_object: { oid: '{_title}' } }],
    ['upload for csv\nrow_command = call load({title})', { csv: { row_command: 'call load({title})' } }],
    ['upload\ncheck_image = PNG, gif', { large_object: { check_image: 'PNG, gif' } }],
    [
      'upload for csv\nfor volatile\ncheck_text = true\nfor stable\ncheck_image = true',
      { csv: { check_text: 'true' } },
    ],
    ['for volatile\nupload for csv\nfor function\ncheck_text = true', { csv: { check_text: 'true' } }],
    [`upload for file_system\npath = ${'x'.repeat(10_000)}`, { file_system: { path: 'x'.repeat(10_000) } }],
  ])('%j', (comment, options) => {
    expect(only(comment).upload?.options).toEqual(options);
  });

  test.each([
    'check_text = true',
    'for stable\nupload for csv\nfor volatile\ncheck_text = true',
    'upload = off\ncsv_delimiters = ;',
  ])('without upload, %j has prose', (comment) => {
    const { upload, description } = only(comment);
    expect(upload).toBeNull();
    expect(description).toBe(comment.split('\n').at(-1));
  });

  test.each<readonly [string, string, string | undefined]>([
    ['upload for file_system\npath = ./covers', '/api/do-thing', './covers'],
    ['path = ./covers\nupload for file_system', '/api/do-thing', './covers'],
    ['path /url\nupload for file_system\npath = ./covers', '/url', './covers'],
    ['HTTP /url\npath = ./covers\nupload for bucket', '/url', './covers'],
    ['upload for csv\npath = /url', '/url', undefined],
    ['upload for csv, file_system\nfile_system_path = ./covers\npath /url', '/url', './covers'],
    ['path = /url', '/url', undefined],
  ])('path and the URL: %j', (comment, path, option) => {
    const { endpoints, diagnostics } = build(comment);
    expect(diagnostics.filter(({ code }) => code !== 'second-http')).toEqual([]);
    const { upload } = endpoints[0]!;
    expect([
      endpoints[0]!.path,
      upload?.options['file_system']?.['path'] ?? upload?.options['bucket']?.['path'],
    ]).toEqual([path, option]);
  });

  test.each<readonly [string, string]>([
    ['check_text = maybe', 'check_text of the upload handler large_object takes true or false, not "maybe"'],
    ['check_text = {other}', 'check_text of the upload handler large_object takes true or false, not "{other}"'],
    ['check_text =', 'check_text of the upload handler large_object takes true or false, not ""'],
    [
      'check_image = pgn',
      'check_image of the upload handler large_object takes true, false or a list of jpg, jpeg, png, gif, bmp, tiff, webp, not "pgn"',
    ],
    ['buffer_size = 0', 'buffer_size of the upload handler large_object takes an integer from 1 to 16777216, not "0"'],
    [
      'buffer_size = 1e9',
      'buffer_size of the upload handler large_object takes an integer from 1 to 16777216, not "1e9"',
    ],
    ['oid = 0', 'oid of the upload handler large_object takes an integer of at least 1, not "0"'],
    [
      'oid = {meta}\nupload _meta as metadata',
      'oid of the upload handler large_object cannot contain the metadata of the files, not "{meta}"',
    ],
  ])('%j is an error', (line, expected) => {
    expect(message(`upload\n${line}`)).toBe(expected);
    expect(build(`upload\n${line}`).endpoints).toEqual([]);
  });

  test.each<readonly [string, string]>([
    ['include_mime_types = image/*', 'included_mime_types = image/*'],
    ['check_imge = true', 'check_image = true'],
    ['checkText = true', 'check_text = true'],
    ['csv_delimiter = ;', 'csv_delimiters = ;'],
    ['csv_roww_command = select 1', 'csv_row_command = select 1'],
    ['check_text: true', 'check_text = true'],
    ['check_text true', 'check_text = true'],
    ['- check_text = true', 'check_text = true'],
  ])('%j is nearly an option', (line, correction) => {
    expect(verdict(`upload for csv\n${line}`)).toEqual([false, 'error near-miss 3']);
    expect(message(`upload for csv\n${line}`)).toContain(`did you mean "${correction}"?`);
    expect(verdict(line)[0]).toBe(true);
  });

  test.each([
    'id = 5',
    'a = b',
    'Check_text is the default of it.',
    'Delimiters are semicolons',
    'a_b = c',
    'bucket_list = x',
  ])('%j is prose', (line) => {
    expect(only(`upload for csv\n${line}`).description).toBe(line);
  });

  test('an option of an unused handler is a warning, an unknown one of a handler is an error', () => {
    expect(verdict('upload for csv\nfile_system_path = ./covers')).toEqual([true, 'warning unused-option 3']);
    expect(verdict('upload\ndelimiters = ;')).toEqual([true, 'warning unused-option 3']);
    expect(verdict('upload for csv\ncsv_color = red')).toEqual([false, 'error unknown-option 3']);
  });

  test('an annotation precedes an option of the same name, except path', () => {
    const endpoint = only('upload for bucket\ntimeout = 5s\nbucket_timeout = 7');
    expect([endpoint.timeoutMs, endpoint.upload?.options]).toEqual([5_000, { bucket: { timeout: '7' } }]);
  });

  test('a misspelt tag stops an endpoint whose option it would drop', () => {
    expect(verdict('upload\nfor voltile\ncheck_image = true')).toEqual([
      false,
      'warning unknown-tag 3',
      'error unknown-tag 4',
    ]);
  });
});

describe('contradictions', () => {
  test.each<readonly [string, readonly string[]]>([
    ['upload\nrequest_param_type body_json', ['error contradiction 3']],
    ['upload\nbody_parameter_name _title', ['error contradiction 3']],
    ['logout\nupload', ['error contradiction 2']],
  ])('%j', (comment, reports) => {
    expect(verdict(comment)).toEqual([false, ...reports]);
  });

  test('another method and caching are warnings', () => {
    expect(verdict('upload\nmethod = PUT')).toEqual([true, 'warning upload-method 3']);
    expect(verdict('upload\ncached')).toEqual([true, 'warning no-effect 3']);
    const { endpoints } = build('upload\ncached\nmethod = GET\nrequest_param_type query');
    expect([endpoints[0]?.method, endpoints[0]?.cache, endpoints[0]?.parameterSource]).toEqual(['POST', null, 'query']);
  });

  test('an overload without upload cannot share the route', () => {
    const { endpoints, diagnostics } = buildEndpoints(
      [
        routine({ parameters, comment: 'HTTP POST\nupload' }),
        routine({ parameters: [{ name: '_title' }], comment: 'HTTP POST\nparam_type query' }),
      ],
      { ...endpointDefaults, logAnnotationSetInfo: false, uploads },
    );
    expect([endpoints, diagnostics.map(({ code }) => code)]).toEqual([[], ['overload-source', 'overload-source']]);
  });
});

test('thousands of long lines that resemble options are prose', () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `chek_texts_${index}_${'x'.repeat(200)} = {title}`);
  expect(only(['upload for csv', ...lines].join('\n')).upload?.options).toEqual({ csv: {} });
});

/** Lines of any words and separators, which no comment may turn into a crash or a polluted prototype. */
test('hostile comments', () => {
  const written =
    'upload for as metadata csv = : , _meta __proto__ constructor csv___proto__ check_text path {title} {__proto__} true @ param is -';
  const word = fc.constantFrom(...written.split(' '), 'x'.repeat(10_000));
  const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const { endpoints } = build(lines.join('\n'));
      for (const { upload } of endpoints) {
        for (const name of upload?.handlers ?? []) expect(Object.keys(uploads.handlers)).toContain(name);
        for (const texts of Object.values(upload?.options ?? {}))
          expect(Object.values(texts).every((value) => typeof value === 'string')).toBe(true);
      }
      expect(({} as Record<string, unknown>)['path']).toBeUndefined();
    }),
  );
});
