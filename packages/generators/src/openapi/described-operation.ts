/** Operations of endpoints whose requests and responses a dialect describes. */
import type { Endpoint } from '@pgway/core';
import {
  type DescribedContent,
  type DescribedOperation,
  describedOperation,
  type DescribedParameter,
  type DescribedResponse,
  type DescribedValue,
  groupBy,
} from '@pgway/core/internal';
import { escapeLine } from '../source-text.ts';
import { describedSchema } from './described-value.ts';
import { escapeMarkdown } from './escape-markdown.ts';
import { mergeContents } from './merge-contents.ts';
import { rateLimitHeaders, rateLimitProblems } from './rate-limit.ts';
import type { Content } from './responses.ts';
import type { JsonSchema } from './schema.ts';

/** Returns the Operation Object of endpoints with a dialect, without security; null for other endpoints. */
export function describedOperationObject({
  id,
  endpoints,
}: {
  readonly id: string;
  readonly endpoints: readonly Endpoint[];
}): JsonSchema | null {
  const operations = endpoints.flatMap((endpoint) => describedOperation(endpoint) ?? []);
  const [first] = operations;
  if (first === undefined) return null;
  const descriptions = [...endpoints, ...operations].map(({ description }) => description.trim());
  const description = [...new Set(descriptions)].filter(Boolean).join('\n\n');
  const body = bodyObject(operations);
  return {
    operationId: id,
    tags: [endpoints[0]!.schema],
    summary: escapeLine([...new Set(operations.map(({ summary }) => summary))].join(' | ')),
    ...(description === '' ? {} : { description: escapeMarkdown(description) }),
    parameters: parameterObjects(operations),
    ...(body === null ? {} : { requestBody: body }),
    responses: { ...responseObjects(operations, endpoints[0]!), ...rateLimitProblems(endpoints) },
  };
}

/** Returns the schemas that the bodies of responses share, by name. */
export function sharedSchemas(endpoints: readonly Endpoint[]): JsonSchema {
  const values = endpoints
    .flatMap((endpoint) => describedOperation(endpoint)?.responses ?? [])
    .flatMap(({ content }) => Object.values(content));
  const shared = values.flatMap((value) =>
    value.kind === 'shared' ? [[value.name, describedSchema(value.value)] as const] : [],
  );
  return Object.fromEntries(shared);
}

/** A parameter of several operations is required when each of them requires it. */
function parameterObjects(operations: readonly DescribedOperation[]): readonly JsonSchema[] {
  const all = operations.flatMap(({ parameters }) => parameters);
  const same = groupBy(all, ({ in: place, name }) => `${place} ${place === 'header' ? name.toLowerCase() : name}`);
  return [...same.values()].map((parameters) => {
    const [{ name, in: place, description }] = parameters as [DescribedParameter, ...DescribedParameter[]];
    const isRequired = parameters.length === operations.length && parameters.every(({ required }) => required);
    return {
      name,
      in: place,
      description: escapeMarkdown(description),
      ...(isRequired ? { required: true } : {}),
      schema: describedSchema(mergeValues(parameters.map(({ value }) => value))),
    };
  });
}

/** Parameters of the same name have the texts of all. Other values may differ, and are described by the first one. */
function mergeValues(values: readonly DescribedValue[]): DescribedValue {
  const lists = values.flatMap((value) => (value.kind === 'text' && value.values !== undefined ? [value.values] : []));
  return lists.length === values.length ? { kind: 'text', values: [...new Set(lists.flat())] } : values[0]!;
}

function contentObject(content: DescribedContent): Content {
  const entries = Object.entries(content);
  return Object.fromEntries(entries.map(([type, value]) => [type, { schema: describedSchema(value) }]));
}

function bodyObject(operations: readonly DescribedOperation[]): JsonSchema | null {
  const bodies = operations.flatMap(({ body }) => body ?? []);
  if (bodies.length === 0) return null;
  const isRequired = bodies.length === operations.length && bodies.every(({ required }) => required);
  return {
    ...(isRequired ? { required: true } : {}),
    content: mergeContents(bodies.map(({ content }) => contentObject(content))),
  };
}

function responseObjects(operations: readonly DescribedOperation[], endpoint: Endpoint): JsonSchema {
  const byStatus = groupBy(
    operations.flatMap(({ responses }) => responses),
    ({ status }) => status,
  );
  const objects = [...byStatus].map(([status, responses]) => {
    const isSuccess = status.startsWith('2');
    return [status, responseObject(responses, isSuccess ? rateLimitHeaders(endpoint) : {})] as const;
  });
  return Object.fromEntries(objects);
}

function responseObject(responses: readonly DescribedResponse[], others: JsonSchema): JsonSchema {
  const own = responses
    .flatMap(({ headers }) => headers)
    .map(({ name, description, value }) => [name, { description, schema: describedSchema(value) }] as const);
  const headers = { ...Object.fromEntries(own), ...others };
  const content = mergeContents(responses.map((response) => contentObject(response.content)));
  return {
    description: responses[0]!.description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}
