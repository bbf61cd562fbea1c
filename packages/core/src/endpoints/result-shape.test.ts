import { expect, test } from 'vitest';
import { column, int4, returns, routine, textArray } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults } from './options.ts';
import type { RawFormat } from './endpoint.ts';

type Sketch = Parameters<typeof routine>[0];

const rows: Sketch = { result: returns('composite', [column('a', int4), column('b')], { set: true }) };

/** Returns the raw format of the endpoint with these comment lines, then the diagnostics. */
function planned(lines: string, sketch: Sketch = rows): readonly [RawFormat | null | undefined, ...string[]] {
  const { endpoints, diagnostics } = buildEndpoints(
    [routine({ parameters: [], ...sketch, comment: `HTTP\n${lines}` })],
    {
      ...endpointDefaults,
      logAnnotationSetInfo: false,
    },
  );
  return [endpoints[0]?.raw, ...diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`)];
}

const plain: RawFormat = { separator: null, newLine: null, columnNames: false };

test('alone, by any of its names, or switched', () => {
  for (const line of ['raw', 'RAW_MODE', 'raw-results', '@raw', 'raw = true', 'raw on']) {
    expect([line, ...planned(line)]).toEqual([line, plain]);
  }
  expect(planned('raw\nraw = off')).toEqual([null]);
  expect(planned('')).toEqual([null]);
});

test('with separators of values and rows, in both syntaxes, escapes resolved', () => {
  const expected = { separator: ',', newLine: '\n', columnNames: true };
  expect(planned('raw\nseparator ,\nnew_line \\n\ncolumn_names')).toEqual([expected]);
  expect(planned('raw_separator = ,\nraw\nraw-new-line = \\n\ncolumns = on')).toEqual([expected]);
  expect(planned('raw\nnames\nseparator, \\t\nnew_line , ')).toEqual([
    { separator: ', \t', newLine: ',', columnNames: true },
  ]);
  expect(planned('raw\nseparator = a = \\\\n')).toEqual([{ ...plain, separator: 'a = \\n' }]);
  expect(planned('raw\nseparator\nnew_line =')).toEqual([plain, 'warning bad-argument 3', 'warning bad-argument 4']);
});

test('options of raw mode do not enable it, because "names" may begin a sentence', () => {
  expect(planned('separator ;\nnew_line = \\n\nNames')).toEqual([
    null,
    'warning no-effect 2',
    'warning no-effect 3',
    'warning no-effect 4',
  ]);
  expect(planned('Names of all authors\nRaw data of the sensors.')).toEqual([
    null,
    'warning extra-arguments 2',
    'warning extra-arguments 3',
  ]);
  expect(planned('columns = off')).toEqual([null]);
});

test('an access annotation after raw on one line rejects the endpoint', () => {
  expect(planned('raw authorize admin')).toEqual([undefined, 'error extra-arguments 2']);
});

test('a record without columns, and void, have no column names', () => {
  expect(planned('raw\nseparator ;\ncolumn_names', { result: returns('record', [], { set: true }) })).toEqual([
    { ...plain, separator: ';' },
    'warning no-effect 4',
  ]);
  const record = { parameters: [{ name: '_end' }], result: returns('record', [], { set: true }) };
  expect(planned('raw\nseparator = {end}\nnew_line = {end}', record)).toEqual([
    { ...plain, separator: '{end}', newLine: '{end}' },
    'warning no-effect 3',
  ]);
  expect(planned('raw\nseparator = {other}', record)).toEqual([{ ...plain, separator: '{other}' }]);
  expect(planned('raw\nseparator ;', { result: returns('void') })).toEqual([
    null,
    'warning no-effect 2',
    'warning no-effect 3',
  ]);
});

test('outputs of a procedure are text, without a warning', () => {
  const record = { ...textArray, kind: 'pseudo' } as const;
  const procedure = { kind: 'procedure', result: returns('composite', [column('a', record)]) } as const;
  expect(planned('raw', procedure)).toEqual([plain]);
  expect(planned('', procedure)).toEqual([null, 'warning text-output null']);
});
