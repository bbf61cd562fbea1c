/** Field types of the configuration schema. */
import { z } from 'zod';

export type Flag = z.ZodDefault<z.ZodBoolean>;
export type Text = z.ZodDefault<z.ZodString>;
export type OptionalText = z.ZodDefault<z.ZodNullable<z.ZodString>>;
export type TextList = z.ZodDefault<z.ZodArray<z.ZodString>>;
export type OptionalTextList = z.ZodDefault<z.ZodNullable<z.ZodArray<z.ZodString>>>;
export type TextMap = z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodString>>;
export type Count = z.ZodDefault<z.ZodNumber>;

export const flag = (byDefault: boolean, description: string): Flag =>
  z.boolean().default(byDefault).describe(description);

export const text = (byDefault: string, description: string): Text =>
  z.string().min(1).default(byDefault).describe(description);

export const optionalText = (description: string): OptionalText =>
  z.string().min(1).nullable().default(null).describe(description);

export const textList = (byDefault: readonly string[], description: string): TextList =>
  z
    .array(z.string())
    .default([...byDefault])
    .describe(description);

export const optionalTextList = (description: string): OptionalTextList =>
  z.array(z.string()).nullable().default(null).describe(description);

export const textMap = (description: string): TextMap =>
  z.record(z.string(), z.string()).default({}).describe(description);

/**
 * Marks a secret, with the keyword `writeOnly` of JSON Schema: error messages show neither its value nor that of a group
 * that contains it.
 */
export const secret = <Field extends z.ZodType>(field: Field): Field =>
  field.meta({ ...field.meta(), writeOnly: true });

/** A `SIMILAR TO` pattern; an empty one is valid and matches nothing. */
export const optionalPattern = (description: string): OptionalText =>
  z.string().nullable().default(null).describe(description);

/** An integer from 1 to `max`, a million unless given. */
export const count = (byDefault: number, description: string, max = 1_000_000): Count =>
  z.int().min(1).max(max).default(byDefault).describe(description);

/** A path that the server itself answers. */
export const servedPath: z.ZodString = z.string().regex(/^\/[^\s?#]*$/, 'must be a path, as in /openapi.json');
