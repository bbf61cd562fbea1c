import { internal } from './annotations/internal.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter } from './endpoint.ts';
import type { NamedType } from './named-type.ts';

/**
 * Reports parameters with an HTTP client type of NpgsqlRest, which sets them to the response of a service. Here clients would set them, and
 * the routine trusts what they say. Columns of tables may have such types: NpgsqlRest does not set them either.
 */
export function reportRequestTypes(builder: EndpointBuilder, parameters: readonly EndpointParameter[]): void {
  if (builder.routine.table !== undefined || builder.get(internal) === true) return;
  for (const { name, type, injectedValue } of parameters) {
    const requestType = injectedValue === undefined ? findRequestType(type) : null;
    if (requestType === null) continue;
    const relation = requestType === type ? 'is of' : 'contains';
    builder.report(
      'error',
      'request-type',
      `the parameter ${display(name)} ${relation} type ${requestType.display}, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it; call the service in your program and pass the response in a parameter of another type, or change the comment of the type`,
      null,
    );
  }
}

/** Returns the type itself, or the first one in its elements and fields. */
function findRequestType(type: NamedType): NamedType | null {
  if (type.isRequest === true) return type;
  for (const inner of [...(type.element ? [type.element] : []), ...(type.fields ?? []).map((field) => field.type)]) {
    const found = findRequestType(inner);
    if (found !== null) return found;
  }
  return null;
}
