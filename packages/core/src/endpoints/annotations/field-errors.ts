import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { readSwitch } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import type { Setting } from '../comment/setting.ts';
import type { MemberAnnotation } from '../comment/value-annotation.ts';
import type { Endpoint } from '../endpoint.ts';
import { fromOptions, fromRoutine, type Resolved, withValue } from '../origin.ts';

const fieldErrorStatus: Setting<number> = { key: 'fieldErrorStatus' };

/** A line without a status keeps that of another line. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const status = /^4\d\d$/.test(parsed.text) ? Number(parsed.text) : null;
  const value = status === null ? readSwitch(parsed) : true;
  if (value === null) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes on, off or a status from 400 to 499, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, fieldErrors, value);
  if (status !== null) builder.set(parsed, fieldErrorStatus, status);
  return null;
}

function resolve(builder: EndpointBuilder): Resolved<Endpoint['fieldErrors']> {
  const { dialect } = builder.routine;
  const preset = fromOptions(builder.options, 'fieldErrors', (options) => options.fieldErrors);
  const written = builder.get(fieldErrors);
  const origin = written === null ? preset : fromComment(builder, fieldErrors, written);
  if (origin.value === false) return withValue(origin, undefined);
  if (dialect !== undefined) return fromRoutine(undefined, `the dialect ${dialect} has its own errors`);
  const status = builder.get(fieldErrorStatus) ?? (typeof preset.value === 'number' ? preset.value : null);
  return withValue(origin, { status });
}

export const fieldErrors: MemberAnnotation<'fieldErrors', boolean> = {
  key: 'fieldErrors',
  names: ['field_errors'],
  syntax: ['field_errors', 'field_errors <status>', 'field_errors = <on/off>'],
  documentation:
    'Lists refused parameters and violated constraints in the member `errors` of a problem ([errors of fields](../guide/errors.md#errors-of-fields)). With a status, such as 422, these problems have this status.',
  isGuard: false,
  apply,
  member: 'fieldErrors',
  resolve,
  explained: {
    name: 'fieldErrors',
    show: (endpoint) => (endpoint.fieldErrors === undefined ? 'false' : String(endpoint.fieldErrors.status ?? true)),
  },
};
