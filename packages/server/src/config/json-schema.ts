import type { Schema } from '@pgway/core/internal';
import { configurationSchema } from './schema.ts';

/** The JSON Schema (draft 2020-12) of the configuration file. */
export const configurationJsonSchema: Schema = configurationSchema.schema!;
