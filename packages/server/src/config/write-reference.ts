/** Writes the reference and the JSON Schema to where they are committed: `npm run reference`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { writeJsonSchema, writeReference } from './reference.ts';

const reference = new URL('../../../../docs/reference/', import.meta.url);
await mkdir(reference, { recursive: true });
await writeFile(new URL('configuration.md', reference), writeReference());
await writeFile(new URL('../../pgway.schema.json', import.meta.url), writeJsonSchema());
