import { expect, test } from 'vitest';
import { routine } from '../../../test/support/routine.ts';
import { buildEndpoints } from '../../../test/support/build-endpoints.ts';
import { endpointDefaults } from '../options.ts';

/** Messages that an author reads. They are written for people; what they hold is pinned for a few. */
function messages(comment: string): readonly string[] {
  const { diagnostics } = buildEndpoints([routine({ comment })], { ...endpointDefaults, logAnnotationSetInfo: false });
  return diagnostics.map((diagnostic) => diagnostic.message);
}

test('a near-miss names the line and the likely word', () => {
  expect(messages('HTTP\nauthrize admin')).toEqual([
    '"authrize admin" is read as prose; did you mean authorize (authorize, authorize <role> …, authorize = <role>, …)?',
  ]);
});

test('an access annotation on the HTTP line is reported, because it needs a separate line', () => {
  expect(messages('HTTP GET /x authorize admin')).toEqual([
    'HTTP takes a method and a path; it sets the path "/x" and ignores "authorize admin"; write "authorize" on its own line',
  ]);
});

test('a message shows nothing that a terminal obeys, and not too much', () => {
  const [message] = messages(`HTTP\nautorize \u001b[31mred\u009b\u202e${'x'.repeat(200)}`);
  expect(message).toMatch(/^"autorize \\u001b\[31mred\\u009b\\u202ex+…" is read as prose/);
});
