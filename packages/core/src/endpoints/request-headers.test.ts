import { expect, test } from 'vitest';
import { int4, jsonb, routine, text } from '../../test/support/routine.ts';
import { buildEndpoints } from './build-endpoints.ts';
import { endpointDefaults } from './defaults.ts';
import type { EndpointOptions } from './options.ts';

type Sketch = NonNullable<Parameters<typeof routine>[0]>;

/** Where the headers go: `ignore`, `context`, or the parameter's position; then what the author is told. */
function planned(
  comment: string,
  parameters: Sketch['parameters'],
  options: Partial<EndpointOptions> = {},
): readonly unknown[] {
  const { endpoints, diagnostics } = buildEndpoints([routine({ comment, parameters: parameters ?? [] })], {
    ...endpointDefaults,
    logAnnotationSetInfo: false,
    ...options,
  });
  const [endpoint] = endpoints;
  const said = diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`);
  if (endpoint === undefined) return ['stopped', ...said];
  const { requestHeaders } = endpoint;
  return [requestHeaders.mode === 'parameter' ? requestHeaders.position : requestHeaders.mode, ...said];
}

const fitting: Sketch['parameters'] = [{ name: 'id' }, { name: '_headers', type: jsonb, hasDefault: true }];

test('the word decides over the option', () => {
  expect(planned('HTTP', fitting)).toEqual(['ignore']);
  expect(planned('HTTP', fitting, { requestHeadersMode: 'context' })).toEqual(['context']);
  expect(planned('HTTP\nrequest_headers context', fitting)).toEqual(['context']);
  expect(planned('HTTP\nrequest-headers-mode = Ignore', fitting, { requestHeadersMode: 'context' })).toEqual([
    'ignore',
  ]);
  expect(planned('HTTP\nrequest_headers parameter', fitting)).toEqual([2]);
  expect(planned('HTTP', fitting, { requestHeadersMode: 'parameter' })).toEqual([2]);
});

test('a mode that is none stops the endpoint', () => {
  expect(planned('HTTP\nrequest_headers all', fitting)).toEqual(['stopped', 'error bad-argument 2']);
});

test('the parameter goes by its original or converted name, from the comment or else the option', () => {
  const parameters = [{ name: '_the_rest', type: text, hasDefault: true }];
  for (const name of ['_the_rest', 'theRest']) {
    expect(planned(`HTTP\nrequest_headers parameter\nrequest_headers_param_name ${name}`, parameters)).toEqual([1]);
    const options = { requestHeadersMode: 'parameter', requestHeadersParameterName: name } as const;
    expect(planned('HTTP', parameters, options)).toEqual([1]);
    expect(
      planned(`HTTP\nrequest_headers_parameter_name = ${name}`, parameters, { requestHeadersMode: 'parameter' }),
    ).toEqual([1]);
  }
  expect(planned('HTTP\nrequest_headers_param_name', parameters)).toEqual(['stopped', 'error bad-argument 2']);
});

test.each([
  ['none of that name', [{ name: 'other', hasDefault: true }]],
  ['one without a default', [{ name: 'headers', type: jsonb }]],
  ['one of another type', [{ name: 'headers', type: int4, hasDefault: true }]],
])('%s is quietly left alone for the option, and stops an endpoint that asks for it', (_, parameters) => {
  expect(planned('HTTP', parameters, { requestHeadersMode: 'parameter' })).toEqual(['ignore']);
  expect(planned('HTTP\nrequest_headers parameter', parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 2',
  ]);
  expect(
    planned('HTTP\nrequest_headers_parameter_name headers', parameters, { requestHeadersMode: 'parameter' }),
  ).toEqual(['stopped', 'error request-headers-parameter 2']);
});

test('a parameter without a name cannot be given alone', () => {
  const asking = 'HTTP\nrequest_headers parameter\nrequest_headers_param_name $1';
  expect(planned(asking, [{ name: null, hasDefault: true }])).toEqual(['stopped', 'error request-headers-parameter 3']);
});

test('what the path or the body gives is no place for headers', () => {
  const parameters = [{ name: 'headers', hasDefault: true }];
  const asking = 'request_headers parameter';
  expect(planned(`HTTP /x/{headers?}\n${asking}`, parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 2',
  ]);
  expect(planned(`HTTP\nbody_parameter_name headers\n${asking}`, parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 3',
  ]);
});

test('a name without the mode has no effect', () => {
  expect(planned('HTTP\nrequest_headers_param_name _headers', fitting)).toEqual(['ignore', 'warning no-effect 2']);
});
