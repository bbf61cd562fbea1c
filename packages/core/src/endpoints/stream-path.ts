import type { SettingKey } from './comment/setting.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import { parsePath } from './path.ts';

/** The part of the path of a stream that an annotation sets. */
interface StreamPathOptions {
  readonly setting: SettingKey;
  /** The name of the annotation. */
  readonly name: string;
  readonly below: string;
}

/** Returns the path of a stream below that of an endpoint. It has no parameters, as an endpoint has one stream for all values. */
export function resolveStreamPath(
  builder: EndpointBuilder,
  path: string,
  { setting, name, below }: StreamPathOptions,
): string {
  const literal = path.replaceAll(/\/\{[^/]*\}/g, '').replace(/\/$/, '');
  const whole = `${literal}/${below.replace(/^\//, '')}`.replace(/(?<=.)\/$/, '');
  const segments = parsePath(whole);
  const report = (fault: string): void =>
    builder.reportAt(setting, 'path-syntax', `${name} ${display(below)}: ${fault}`);
  if (typeof segments === 'string') report(segments);
  else if (segments.some(({ kind }) => kind === 'parameter'))
    report('the path of a stream must not contain parameters');
  return whole;
}
