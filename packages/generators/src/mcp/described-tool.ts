/** Tools of endpoints whose requests and responses a dialect describes. */

import type { Endpoint } from '@pgway/core';
import {
  type DescribedMember,
  type DescribedOperation,
  describedOperation,
  type DescribedToolCall,
} from '@pgway/core/internal';
import { describedSchema } from '../openapi/described-value.ts';
import type { JsonSchema } from '../openapi/schema.ts';
import { safeName, UniqueNames } from './names.ts';
import type { ToolOutput } from './schemas.ts';

/** An argument: a parameter of the query string, or the body. */
export interface DescribedArgument {
  /** The name in the input schema. */
  readonly name: string;
  /** The key in the query string. */
  readonly key: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** The only endpoint of a tool, and what its requests consist of. */
export interface DescribedTool {
  readonly endpoint: Endpoint;
  readonly action: DescribedOperation['action'];
  readonly description: string;
  readonly parameters: readonly DescribedArgument[];
  /** Null: requests have no body. */
  readonly body: DescribedArgument | null;
  /** Headers of every request. */
  readonly headers: DescribedToolCall['headers'];
  readonly output: ToolOutput;
}

/** Returns null for an endpoint without a dialect, and for an operation that is not a tool. */
export function describedTool(endpoint: Endpoint): DescribedTool | null {
  const operation = endpoint.dialect === undefined ? null : describedOperation(endpoint);
  if (operation === null || operation.tool === null) return null;
  const { description, headers, rows, ...call } = operation.tool;
  const names = new UniqueNames();
  // A column can have the name of the body.
  const body = call.body === null ? null : toArgument(call.body, names);
  const parameters = call.parameters.map((parameter) => toArgument(parameter, names));
  return {
    endpoint,
    action: operation.action,
    description: [endpoint.description.trim(), description].filter(Boolean).join('\n\n'),
    parameters,
    body,
    headers,
    output: {
      member: 'rows',
      format: 'json',
      schema: { type: 'object', properties: { rows: describedSchema(rows) }, required: ['rows'] },
    },
  };
}

function toArgument({ name, description, required, value }: DescribedMember, names: UniqueNames): DescribedArgument {
  const schema = { ...describedSchema(value), description };
  return { name: names.take(safeName(name, 'argument')), key: name, required, schema };
}

/** Returns the arguments in the order in which a tool lists them. */
export function describedArguments({ parameters, body }: DescribedTool): readonly DescribedArgument[] {
  return body === null ? parameters : [body, ...parameters];
}
