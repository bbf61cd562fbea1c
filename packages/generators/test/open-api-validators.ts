import type { OpenApiDocument } from '@pgway/generators';
import { validate } from '@readme/openapi-parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Returns errors and warnings of two validators: the schema of OpenAPI 3.1, and Redocly's recommended rules. */
export async function complaints(document: OpenApiDocument): Promise<readonly string[]> {
  return [...(await schemaErrors(document)), ...(await ruleProblems(document))];
}

/** Returns the errors of the schema of the version that the document names: OpenAPI 2 or 3. */
export async function schemaErrors(document: object): Promise<readonly string[]> {
  // The validator resolves references in place.
  const result = await validate(structuredClone(document) as Parameters<typeof validate>[0]);
  return result.valid ? [] : result.errors.map(({ message }) => message);
}

/** Rejects external references. */
async function ruleProblems(document: OpenApiDocument): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}
