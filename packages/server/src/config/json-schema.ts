import { z } from 'zod';
import { configurationSchema } from './schema.ts';

/** The JSON Schema (draft 2020-12) of the configuration file. In the published package it is a constant, because it takes time to compute. */
export const configurationJsonSchema: z.core.JSONSchema.BaseSchema = z.toJSONSchema(configurationSchema, {
  io: 'input',
});
