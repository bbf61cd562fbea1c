import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { EndpointOptions } from '../options.ts';
import { fromDefault, fromOptions, type Resolved } from '../origin.ts';
import type { Setting, SettingKey } from './setting.ts';

/** Returns the value with the line that set it as its origin. */
export function fromComment<Value>(
  builder: EndpointBuilder,
  setting: SettingKey,
  value: Value,
  reason = 'set by the comment',
): Resolved<Value> {
  return { value, origin: 'comment', line: builder.annotationFor(setting)?.line ?? null, reason };
}

/** Returns the value of the comment, or else that of an option. */
export function orOption<Name extends keyof EndpointOptions>(
  builder: EndpointBuilder,
  setting: Setting<EndpointOptions[Name]>,
  name: Name,
): Resolved<EndpointOptions[Name]> {
  const value = builder.get(setting);
  if (value !== null) return fromComment(builder, setting, value);
  return fromOptions(builder.options, name, (options) => options[name]);
}

/** Returns the value of the comment, or else a fixed one. @param reason why, in explanations */
export function orDefault<Value, Default>(
  builder: EndpointBuilder,
  setting: Setting<Value>,
  value: Default,
  reason: string,
): Resolved<Value | Default> {
  const written = builder.get(setting);
  return written === null ? fromDefault(value, reason) : fromComment(builder, setting, written);
}
