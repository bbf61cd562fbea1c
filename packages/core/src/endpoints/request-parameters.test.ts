import { expect, test } from 'vitest';
import { bytea, int4, jsonb, routine, text, textArray } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults, type EndpointOptions } from './options.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import type { Endpoint } from './endpoint.ts';

type Sketch = NonNullable<Parameters<typeof routine>[0]>;

/** Returns the target of the headers, `ignore`, `context` or the parameter's position, then the diagnostics. */
function buildHeaders(
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
  const reports = diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`);
  if (endpoint === undefined) return ['stopped', ...reports];
  const { requestHeaders } = endpoint;
  return [requestHeaders.mode === 'parameter' ? requestHeaders.position : requestHeaders.mode, ...reports];
}

const fitting: Sketch['parameters'] = [{ name: 'id' }, { name: '_headers', type: jsonb, hasDefault: true }];

test('the annotation overrides the option', () => {
  expect(buildHeaders('HTTP', fitting)).toEqual(['ignore']);
  expect(buildHeaders('HTTP', fitting, { requestHeadersMode: 'context' })).toEqual(['context']);
  expect(buildHeaders('HTTP\nrequest_headers context', fitting)).toEqual(['context']);
  expect(buildHeaders('HTTP\nrequest-headers-mode = Ignore', fitting, { requestHeadersMode: 'context' })).toEqual([
    'ignore',
  ]);
  expect(buildHeaders('HTTP\nrequest_headers parameter', fitting)).toEqual([2]);
  expect(buildHeaders('HTTP', fitting, { requestHeadersMode: 'parameter' })).toEqual([2]);
});

test('an unknown mode rejects the endpoint', () => {
  expect(buildHeaders('HTTP\nrequest_headers all', fitting)).toEqual(['stopped', 'error bad-argument 2']);
});

test('the parameter has its original or converted name, from the comment or else the option', () => {
  const parameters = [{ name: '_the_rest', type: text, hasDefault: true }];
  for (const name of ['_the_rest', 'theRest']) {
    expect(buildHeaders(`HTTP\nrequest_headers parameter\nrequest_headers_param_name ${name}`, parameters)).toEqual([
      1,
    ]);
    const options = { requestHeadersMode: 'parameter', requestHeadersParameterName: name } as const;
    expect(buildHeaders('HTTP', parameters, options)).toEqual([1]);
    expect(
      buildHeaders(`HTTP\nrequest_headers_parameter_name = ${name}`, parameters, { requestHeadersMode: 'parameter' }),
    ).toEqual([1]);
  }
  expect(buildHeaders('HTTP\nrequest_headers_param_name', parameters)).toEqual(['stopped', 'error bad-argument 2']);
});

test.each([
  ['none of that name', [{ name: 'other', hasDefault: true }]],
  ['one without a default', [{ name: 'headers', type: jsonb }]],
  ['one of another type', [{ name: 'headers', type: int4, hasDefault: true }]],
])('%s is ignored for the option, and rejects an endpoint with the annotation', (_, parameters) => {
  expect(buildHeaders('HTTP', parameters, { requestHeadersMode: 'parameter' })).toEqual(['ignore']);
  expect(buildHeaders('HTTP\nrequest_headers parameter', parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 2',
  ]);
  expect(
    buildHeaders('HTTP\nrequest_headers_parameter_name headers', parameters, { requestHeadersMode: 'parameter' }),
  ).toEqual(['stopped', 'error request-headers-parameter 2']);
});

test('a parameter without a name is rejected', () => {
  const comment = 'HTTP\nrequest_headers parameter\nrequest_headers_param_name $1';
  expect(buildHeaders(comment, [{ name: null, hasDefault: true }])).toEqual([
    'stopped',
    'error request-headers-parameter 3',
  ]);
});

test('a parameter of the path or the body cannot take the headers', () => {
  const parameters = [{ name: 'headers', hasDefault: true }];
  const comment = 'request_headers parameter';
  expect(buildHeaders(`HTTP /x/{headers?}\n${comment}`, parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 2',
  ]);
  expect(buildHeaders(`HTTP\nbody_parameter_name headers\n${comment}`, parameters)).toEqual([
    'stopped',
    'error request-headers-parameter 3',
  ]);
});

test('a name without the mode has no effect', () => {
  expect(buildHeaders('HTTP\nrequest_headers_param_name _headers', fitting)).toEqual(['ignore', 'warning no-effect 2']);
});

/** Returns the endpoint of a routine with parameters `id` and `_the_body`, or the error. */
function buildBody(comment: string, type: TypeFacts = text): Endpoint | readonly string[] {
  const { endpoints, diagnostics } = buildEndpoints(
    [
      routine({
        comment,
        parameters: [
          { name: 'id', type: int4 },
          { name: '_the_body', type },
        ],
      }),
    ],
    { ...endpointDefaults, logAnnotationSetInfo: false },
  );
  return endpoints[0] ?? diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`);
}

test('a body parameter takes the body, the others come from the query, and the method stays', () => {
  for (const line of ['body_parameter_name _the_body', 'body-param-name = theBody']) {
    expect(buildBody(`HTTP\n${line}`)).toMatchObject({ method: 'POST', parameterSource: 'query', bodyParameter: 2 });
  }
  expect(buildBody('HTTP PUT\nbody_param_name theBody')).toMatchObject({ method: 'PUT', parameterSource: 'query' });
  expect(buildBody('HTTP')).toMatchObject({ parameterSource: 'body', bodyParameter: null });
});

test('a body parameter is of any type', () => {
  const line = 'HTTP\nbody_parameter_name theBody';
  const xml: TypeFacts = { ...text, display: 'xml', textual: false, builtin: 'xml' };
  for (const type of [text, jsonb, xml, int4, bytea, textArray]) {
    expect(buildBody(line, type)).toMatchObject({ bodyParameter: 2 });
  }
});

test('must exist, not be in the path, and be the only parameter from the body', () => {
  expect(buildBody('HTTP\nbody_parameter_name body')).toEqual(['error body-parameter 2']);
  expect(buildBody('HTTP POST /x/{theBody}\nbody_parameter_name theBody')).toEqual(['error body-parameter 2']);
  expect(buildBody('HTTP\nbody_parameter_name theBody\nparam_type body')).toEqual(['error body-parameter 2']);
  expect(buildBody('HTTP\nbody_parameter_name theBody\nparam_type query')).toMatchObject({ bodyParameter: 2 });
  expect(buildBody('HTTP\nbody_parameter_name')).toEqual(['error bad-argument 2']);
});
