import { expect, test } from 'vitest';
import { bytea, int4, jsonb, routine, text, textArray } from '../../test/support/routine.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import { buildEndpoints } from './build-endpoints.ts';
import { endpointDefaults } from './defaults.ts';
import type { Endpoint } from './endpoint.ts';

/** The endpoint of a routine with parameters `id` and `_the_body`, or what stops it. */
function planned(comment: string, type: TypeFacts = text): Endpoint | readonly string[] {
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

test('takes the body, the others come from the query, and the method stays', () => {
  for (const line of ['body_parameter_name _the_body', 'body-param-name = theBody']) {
    expect(planned(`HTTP\n${line}`)).toMatchObject({ method: 'POST', parameterSource: 'query', bodyParameter: 2 });
  }
  expect(planned('HTTP PUT\nbody_param_name theBody')).toMatchObject({ method: 'PUT', parameterSource: 'query' });
  expect(planned('HTTP')).toMatchObject({ parameterSource: 'body', bodyParameter: null });
});

test('is of any type', () => {
  const line = 'HTTP\nbody_parameter_name theBody';
  const xml: TypeFacts = { ...text, display: 'xml', textual: false, builtin: 'xml' };
  for (const type of [text, jsonb, xml, int4, bytea, textArray]) {
    expect(planned(line, type)).toMatchObject({ bodyParameter: 2 });
  }
});

test('must exist, not stand in the path, and be the only reader of the body', () => {
  expect(planned('HTTP\nbody_parameter_name body')).toEqual(['error body-parameter 2']);
  expect(planned('HTTP POST /x/{theBody}\nbody_parameter_name theBody')).toEqual(['error body-parameter 2']);
  expect(planned('HTTP\nbody_parameter_name theBody\nparam_type body')).toEqual(['error body-parameter 2']);
  expect(planned('HTTP\nbody_parameter_name theBody\nparam_type query')).toMatchObject({ bodyParameter: 2 });
  expect(planned('HTTP\nbody_parameter_name')).toEqual(['error bad-argument 2']);
});
