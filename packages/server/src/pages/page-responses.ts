/** The responses of an operation, from its Operation Object. */
import { STATUS_CODES } from 'node:http';
import type { PageResponse } from '../browser/page-data.ts';
import type { JsonSchema } from '@pgway/generators/internal';
import { schemaExample } from './schema-example.ts';
import { asObject, formatSchema, plainText, type SharedSchemas } from './schema-text.ts';

/** The parts of the Components Object that responses refer to. */
export interface SharedComponents {
  readonly schemas: SharedSchemas;
  readonly responses: Readonly<Record<string, unknown>>;
}

export function pageResponses({ responses }: JsonSchema, shared: SharedComponents): readonly PageResponse[] {
  return Object.entries(asObject(responses)).map(([status, object]) => {
    const name = nameOf(object);
    const response = name === null ? asObject(object) : asObject(shared.responses[name]);
    const problem = Object.keys(asObject(response['content'])).includes('application/problem+json');
    return {
      status,
      // Operations refer to one description for all problems.
      description: problem && name !== null ? problemText(status) : plainText(response['description']),
      problem,
      headers: Object.entries(asObject(response['headers'])).map(([header, value]) => ({
        name: header,
        description: plainText(asObject(value)['description']),
      })),
      content: contentOf(response, shared.schemas),
    };
  });
}

function problemText(status: string): string {
  if (status === 'default') return 'An error of the server or the database';
  return STATUS_CODES[status] ?? 'Another error of the request';
}

/** A problem has the same members in all responses: the page describes it once. */
function contentOf({ content }: JsonSchema, schemas: SharedSchemas): PageResponse['content'] {
  return Object.entries(asObject(content))
    .filter(([mediaType]) => mediaType !== 'application/problem+json')
    .map(([mediaType, media]) => {
      const { schema, itemSchema } = asObject(media);
      const example = mediaType === 'application/json' ? schemaExample(schema, schemas) : null;
      return { mediaType, type: formatSchema(schema ?? itemSchema, schemas), example };
    });
}

function nameOf(object: unknown): string | null {
  const reference = asObject(object)['$ref'];
  return typeof reference === 'string' ? reference.split('/').at(-1)! : null;
}
